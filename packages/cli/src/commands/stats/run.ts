// Shows what the gateway costs in tokens, compared with the tools themselves.
import { printable, printableJson } from "@trunkline/core";
import { journalFolder, type TokenReport, tokenReport } from "@trunkline/gateway/journal";
import { openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import { directTools } from "../../app/known-tools.js";
import type { CommandContext } from "../../terminal/context.js";
import { table } from "../../terminal/table.js";
import { quantity } from "../../terminal/trust-prompt.js";

export interface StatsOptions {
  store: string | undefined;
  mcp: string | undefined;
  json?: boolean;
}

export async function stats(context: CommandContext, options: StatsOptions): Promise<number> {
  const app = openApp(context, { mcp: options.mcp, store: options.store, config: "headless" });
  const folder = journalFolder(context.home, app.storeFolder);
  const { servers } = await app.config();
  const names = new Set(servers.filter(({ disabled }) => !disabled).map(({ name }) => name));
  const report = await tokenReport({ folder, directTools: () => directTools(context, names) });
  if (options.json) context.out(printableJson(report, 2));
  else if (report.since === null) {
    context.note(`Nothing has been counted in ${folder} yet. \`trunkline serve\` counts what its clients receive.`);
  } else for (const line of describe(report)) context.out(line);
  return EXIT.success;
}

function* describe(report: TokenReport): Generator<string> {
  const { today, all, since, direct } = report;
  const row = (what: string, a: number, b: number) => [what, shown(a), shown(b)];
  yield* table(
    [
      ["tokens", "today", `since ${since}`],
      row("tool lists", today.surface, all.surface),
      row("requested schemas", today.schemas, all.schemas),
      row("answers", today.results, all.results),
      row("together", today.total, all.total),
      ["", "", ""],
      row("sent tool lists", today.lists, all.lists),
      ...(direct.tools === 0
        ? []
        : [row(`the same lists with all ${direct.tools} tools of your servers`, direct.today, direct.all)]),
    ],
    { right: [1, 2] },
  );
  if (direct.tools === 0) yield "No server has listed its tools yet, so there is nothing to compare with.";
  else yield `One list of all these tools is ${shown(direct.per_list)} tokens (o200k_base).`;
  yield* describeSurfaces(report);
}

/** Lists what each client got from `serve --surface auto`, and why. */
function* describeSurfaces({ surfaces, per_search }: TokenReport): Generator<string> {
  if (surfaces.length === 0) return;
  const saving = (value: number | null) => (value === null ? "–" : shown(value));
  yield "";
  yield* table(
    [
      ["client", "surface", "lists", "tokens", "saved on direct", "on composite"],
      ...surfaces.map(({ client, surface, lists, tokens, saved_direct, saved_composite }) => [
        printable(client),
        printable(surface),
        shown(lists),
        saved_direct === null ? "–" : shown(tokens),
        saving(saved_direct),
        saving(saved_composite),
      ]),
    ],
    { right: [2, 3, 4, 5] },
  );
  for (const { client, surface, reason } of surfaces) {
    if (reason !== "") yield `${printable(client)}: ${printable(surface)}, because ${printable(reason)}.`;
  }
  const found = surfaces.reduce((sum, row) => sum + row.found, 0);
  if (found > 0)
    yield `With composite, ${quantity(found, "tool")} would have needed a search of about ${shown(per_search)} tokens each.`;
}

function shown(value: number): string {
  return value.toLocaleString("en-US");
}
