// What `trunkline setup` shows before it asks: what was found, what it costs, and what would change.
import { type FoundImport, keepsState } from "@trunkline/config";
import { printable } from "@trunkline/core";
import { directTools } from "../../app/known-tools.js";
import type { ProgramState } from "../../install/program-states.js";
import type { MovePlan } from "../../move/move-plan.js";
import type { CommandContext } from "../../terminal/context.js";
import { homePath } from "../../terminal/shown-path.js";
import { table } from "../../terminal/table.js";
import { quantity } from "../../terminal/trust-prompt.js";
import { brokerUseOf } from "../broker/broker-commands.js";

/** Lists programs and files, with their servers. */
export function describeFound(
  found: readonly FoundImport[],
  states: readonly ProgramState[],
  { userHome }: Pick<CommandContext, "userHome">,
): string[] {
  const rows = found
    .filter(({ problem }) => problem === undefined)
    .map(({ source, path, scope, servers }) => {
      const names = servers.map(({ name }) => printable(name)).join(", ");
      const has = states.find((state) => state.path === path)?.state === "installed" ? ["Trunkline"] : [];
      const what = [...has, ...(servers.length === 0 ? [] : [`${quantity(servers.length, "server")}: ${names}`])];
      const title = scope === "project" ? `${source.title}, this project` : source.title;
      return [title, shortened(path, userHome), what.join(", ") || "no servers"];
    });
  for (const { program, path, state } of states) {
    if (state === "unreadable" || found.some((from) => from.source.id === program.id)) continue;
    rows.push([program.title, shortened(path, userHome), "no servers"]);
  }
  return rows.length === 0 ? ["no agent program on this machine"] : table(rows);
}

/** One line for each file that would change. */
export function describeChanges(
  { copies, changes }: MovePlan,
  { userHome }: Pick<CommandContext, "userHome">,
): string[] {
  const own = copies
    .filter(({ servers }) => servers.length > 0)
    .map(({ target, servers }) => [
      shortened(target.path, userHome),
      `gets ${quantity(servers.length, "server")}: ${servers.map(({ server }) => printable(server.name)).join(", ")}`,
    ]);
  const others = changes.map(({ path, removed, added, before }) => {
    const names = removed.map(({ name }) => printable(name)).join(", ");
    const out = removed.length === 0 ? [] : [`${quantity(removed.length, "server")} moved out: ${names}`];
    const into =
      added === undefined ? "Trunkline stays" : before === undefined ? "created with Trunkline" : "Trunkline added";
    return [shortened(path, userHome), [...out, into].join("; ")];
  });
  return table([...own, ...others]);
}

/** What the servers cost now and afterwards, in processes and tokens. Starts nothing. */
export async function describeCost(
  context: CommandContext,
  { found, plan }: { found: readonly FoundImport[]; plan: MovePlan },
): Promise<string[]> {
  const own = found.filter(({ scope }) => scope === "user");
  const enabled = own.flatMap(({ servers }) => servers.filter(({ entry }) => entry.disabled !== true));
  if (enabled.length === 0) return [];
  const isLocal = ({ entry }: (typeof enabled)[number]) => entry.command !== undefined;
  const now = enabled.filter(isLocal).length;
  const removed = new Set(plan.changes.flatMap((change) => change.removed));
  const staying = enabled.filter((server) => isLocal(server) && !removed.has(server)).length;
  const moved = new Map(
    [...removed].filter((server) => enabled.includes(server) && isLocal(server)).map((server) => [server.name, server]),
  );
  const perClient = [...moved.values()].filter(({ entry }) => keepsState(entry.command ?? "", entry.args ?? [])).length;
  const isShared = brokerUseOf(["serve"], context.env, process.platform) === "client";
  const after = moved.size + staying;
  const sharing = isShared
    ? `${after} for all windows of a folder that have the same environment, each started on first use${perClient > 0 ? ` (${perClient} of them once for each window)` : ""}`
    : `${after} for each window, each started on first use`;
  const [tokensNow, tokensAfter] = await tokens(
    context,
    enabled.map(({ name }) => name),
  );
  return table([
    ["server processes", "now", `${now}, if each program has one window open`],
    ["", "after", sharing],
    ["tokens of a tool list", "now", tokensNow],
    ["", "after", tokensAfter],
  ]);
}

/** The tokens of Trunkline's own list: `query`, `execute` and `session`, and the tools that are worth listing. */
const AFTER = "300 to 1,500; Claude Code and Codex search all tools themselves";

async function tokens(context: CommandContext, names: readonly string[]): Promise<[now: string, after: string]> {
  const known = await directTools(context, new Set(names));
  if (known.length === 0) return ["known once the servers are connected: `trunkline tools --tokens`", AFTER];
  const { countTokens } = await import("@trunkline/gateway/journal");
  const counts = await countTokens(known.map((tool) => JSON.stringify(tool)));
  const sum = counts.reduce((total, count) => total + count, 0).toLocaleString("en-US");
  const servers = new Set(known.map(({ name }) => name.split("__")[1])).size;
  return [`${sum} for ${quantity(known.length, "tool")} of ${quantity(servers, "server")}`, AFTER];
}

function shortened(path: string, userHome: string): string {
  return printable(homePath(path, userHome));
}
