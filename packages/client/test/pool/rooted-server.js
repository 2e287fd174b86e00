// A legacy server that asks for roots when it starts and whenever they change. Its first list of tools waits until the
// first answer has come, which the file `<place>/asked` says, and until `<place>/go` exists. Its tool returns the roots.

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readLines, writeLine } from "../../../../test/servers/line-rpc.js";
import { agreeOnVersion, answer } from "../../../../test/servers/raw-tool-server.js";
import { text } from "../../../../test/servers/tool.js";

const [place = ""] = process.argv.slice(2);
let roots = "none";

/** @type {import("../../../../test/servers/tool.js").PlainTool[]} */
const tools = [{ name: "roots", description: "The roots.", inputSchema: { type: "object" }, run: () => text(roots) }];

const ask = () => writeLine({ jsonrpc: "2.0", id: "roots", method: "roots/list" });

await readLines((received) => {
  const message = /** @type {{ id?: unknown, method?: string, result?: { roots: { uri: string }[] } }} */ (received);
  const { id, method, result } = message;
  if (method === "notifications/initialized" || method === "notifications/roots/list_changed") ask();
  if (method === undefined && id === "roots") {
    if (result !== undefined) roots = result.roots.map(({ uri }) => uri).join();
    writeFileSync(join(place, "asked"), "");
  }
  void (async () => {
    while (method === "tools/list" && !existsSync(join(place, "go"))) await sleep(10);
    const answered = await answer({ name: "rooted", tools, protocolVersion: agreeOnVersion }, message);
    if (answered !== undefined) writeLine(answered);
  })();
});
