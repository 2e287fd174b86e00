// `trunkline tools --changes` and `--approve`: what servers have changed in their definitions. Connects nothing: what is
// shown, and approved, is what they listed last.
import type { LoadedConfig } from "@trunkline/client";
import { approvePins, diffDefinitions, type HeldPin, type PinChange, reportPins } from "@trunkline/client/internal";
import { isGlob, matchesGlob, nearestNames, printable, TrunklineError } from "@trunkline/core";
import { openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import type { CommandContext } from "../../terminal/context.js";
import { reporting } from "../../terminal/json-output.js";

interface ChangesOptions {
  pattern: string | undefined;
  json?: boolean;
  mcp: string | undefined;
}

/** Lines of a definition are cut after this many characters, and changes after this many lines. */
const LONGEST_LINE = 400;
const MOST_LINES = 40;

const HEADINGS: Readonly<Record<PinChange["change"], string>> = {
  new: "new",
  wording: "changed",
  held: "held",
  approved: "approved",
};

/** Prints what is held, then what changed, newest last. */
export async function showChanges(context: CommandContext, options: ChangesOptions): Promise<number> {
  const { reports } = await read(context, options.mcp);
  const isWanted = wantedBy(options.pattern);
  const held = reports.flatMap((report) => report.held).filter((item) => isWanted(labelOf(item)));
  const isHeld = (server: string, change: PinChange) =>
    change.change === "held" && held.some((item) => item.server === server && item.name === change.name);
  const changes = reports
    .flatMap(({ server, changes: own }) =>
      own.filter((change) => !isHeld(server, change)).map((change) => ({ ...change, server })),
    )
    .filter((change) => isWanted(labelOf(change)))
    .sort((a, b) => (a.at < b.at ? -1 : 1));
  if (options.json) {
    const varies = reports.filter((report) => report.varies).map(({ server }) => server);
    context.out(JSON.stringify({ held: held.map(jsonOf), changes: changes.map(jsonOf), varies }, null, 2));
    return EXIT.success;
  }
  for (const item of held) printChange(context, { ...item, at: item.since, change: "held", after: item.definition });
  for (const change of changes) printChange(context, change);
  for (const { server, varies } of reports)
    if (varies) context.out(printable(`${server} changes its wording often; only held definitions are shown.`));
  if (held.length + changes.length === 0) context.note("No definition has changed.");
  if (held.length > 0) context.note(`Accept with: trunkline tools --approve ${printable(labelOf(held[0] as HeldPin))}`);
  return EXIT.success;
}

/** Accepts what is held under these names. */
export async function approveDefinitions(
  context: CommandContext,
  options: ChangesOptions & { approve: readonly string[] },
): Promise<number> {
  const { reports, config } = await read(context, options.mcp);
  const held = reports.flatMap((report) => report.held);
  const chosen = new Set<HeldPin>();
  for (const name of options.approve) {
    const found = held.filter((item) => wantedBy(name)(labelOf(item)));
    if (found.length === 0) throw notHeld(name, held.map(labelOf));
    for (const item of found) chosen.add(item);
  }
  const outcome = { approved: [...chosen].map(labelOf) };
  return await reporting(context, { json: options.json, outcome }, async (shown) => {
    for (const item of chosen) printChange(shown, { ...item, at: item.since, change: "held", after: item.definition });
    await approvePins(context.home, config.servers, [...chosen]);
    for (const item of chosen) shown.out(printable(`Approved: ${labelOf(item)}`));
    return EXIT.success;
  });
}

async function read(context: CommandContext, mcp: string | undefined) {
  await using app = openApp(context, { mcp, config: "headless" });
  const config: LoadedConfig = await app.config();
  return { config, reports: await reportPins(context.home, config.servers) };
}

function notHeld(name: string, held: readonly string[]): TrunklineError {
  const near = nearestNames(name, held);
  const hint =
    near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "`trunkline tools --changes` shows what is held.";
  return new TrunklineError("NOT_FOUND", `No definition named "${name}" is held.`, { hint });
}

function wantedBy(pattern: string | undefined): (label: string) => boolean {
  if (pattern === undefined) return () => true;
  return (label) =>
    label === pattern || label.startsWith(`${pattern}.`) || (isGlob(pattern) && matchesGlob(pattern, label));
}

function labelOf({ server, kind, name }: { server: string; kind: PinChange["kind"]; name: string }): string {
  return kind === "instructions" ? `${server}.instructions` : `${server}.${name}`;
}

interface Shown extends PinChange {
  readonly server: string;
}

function printChange(context: CommandContext, shown: Shown): void {
  const { at, kind, change, reasons = [], before, after } = shown;
  const what = kind === "prompts" ? " (prompt)" : "";
  context.out(
    printable(`${HEADINGS[change].padEnd(8)}  ${labelOf(shown)}${what}  ${at.slice(0, 16).replace("T", " ")}`),
  );
  for (const { text } of reasons) context.out(printable(`    because ${text}`));
  if (change === "new") return;
  const lines = diffDefinitions(before, after);
  for (const { sign, field, text } of lines.slice(0, MOST_LINES)) {
    const cut = text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}… (${text.length} characters)` : text;
    context.out(printable(`    ${sign} ${field}: ${cut}`));
  }
  if (lines.length > MOST_LINES) context.out(`    … and ${lines.length - MOST_LINES} more lines`);
}

function jsonOf<T extends { server: string; kind: PinChange["kind"]; name: string }>(shown: T) {
  const { server, kind, name, ...rest } = shown;
  return { name: labelOf({ server, kind, name }), kind, ...rest };
}
