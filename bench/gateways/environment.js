// Which variables of a gateway's environment the server behind it can read. Nothing in the configuration gives it any.
import { report } from "../report.js";
import { CONFIGURATIONS, startAll } from "./gateways.js";
import { SECRETS, seen, USUAL } from "./secrets.js";

const { running, versions, absent, stop } = await startAll({ ...SECRETS, ...USUAL });
try {
  /** @type {import("../report.js").Row[]} */
  const rows = [];
  for (const { gateway, client } of running) {
    const listed = await gateway.call(client, "environment", {});
    rows.push(
      {
        what: `secrets that the server can read: ${gateway.name}`,
        figure: seen(listed, SECRETS),
        unit: `of ${Object.keys(SECRETS).length}`,
      },
      {
        what: `other variables that it can read: ${gateway.name}`,
        figure: seen(listed, USUAL),
        unit: `of ${Object.keys(USUAL).length}`,
      },
    );
  }
  report("gateways-environment", rows, {
    title: "Gateways: environment leaked to the server behind",
    workload: `Each gateway runs with ${Object.keys(SECRETS).length} invented secrets (${Object.keys(SECRETS).join(", ")}) and ${Object.keys(USUAL).length} usual variables in its environment; the server behind tells which of them it has.`,
    versions,
    absent,
    notes: [CONFIGURATIONS, "Fewer is better. What a server needs is given to it in the configuration."],
  });
} finally {
  await stop();
}
