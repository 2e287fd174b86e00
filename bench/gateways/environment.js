// Measures which of a gateway's environment variables its upstream server can read. The configuration passes none on.
import { report } from "../report.js";
import { CONFIGURATIONS, startAll } from "./gateways.js";
import { only } from "./options.js";
import { SECRETS, seen, USUAL } from "./secrets.js";

const { running, versions, absent, stop } = await startAll({ env: { ...SECRETS, ...USUAL }, only });
try {
  /** @type {import("../report.js").Row[]} */
  const rows = [];
  for (const { gateway, client } of running) {
    const listed = await gateway.call(client, "environment", {});
    rows.push(
      {
        what: `secrets the server can read: ${gateway.name}`,
        figure: seen(listed, SECRETS),
        unit: `of ${Object.keys(SECRETS).length}`,
      },
      {
        what: `other variables it can read: ${gateway.name}`,
        figure: seen(listed, USUAL),
        unit: `of ${Object.keys(USUAL).length}`,
      },
    );
  }
  report("gateways-environment", rows, {
    title: "Gateways: environment leaked to the upstream server",
    workload: `Each gateway runs with ${Object.keys(SECRETS).length} made-up secrets (${Object.keys(SECRETS).join(", ")}) and ${Object.keys(USUAL).length} common variables in its environment; the upstream server reports which of them it can see.`,
    versions,
    absent,
    notes: [CONFIGURATIONS, "Fewer is better. The configuration gives a server what it needs."],
  });
} finally {
  await stop();
}
