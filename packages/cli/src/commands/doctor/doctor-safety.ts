// The safety section of `trunkline doctor`: one line per subject, always in the same order.
import type { LoadedConfig } from "@trunkline/client";
import { reportPins } from "@trunkline/client/internal";
import { printable } from "@trunkline/core";
import { workspaceOf } from "../../app/folders.js";
import type { CommandContext } from "../../terminal/context.js";
import type { Page } from "../../terminal/report-page.js";
import { quantity } from "../../terminal/trust-prompt.js";

/** What is safe by default and what is not, in one sentence each. */
interface Safety {
  readonly trust: string;
  readonly definitions: string;
  /** The folders that clients of `serve` may use. */
  readonly folders: string;
}

/** The labels of the text report, in the order in which they are shown. */
const LABELS: Readonly<Record<keyof Safety, string>> = {
  trust: "trust",
  definitions: "definitions",
  folders: "allowed folders",
};

export async function safetyOf(
  context: Pick<CommandContext, "cwd" | "env" | "home" | "userHome">,
  config: LoadedConfig,
): Promise<Safety> {
  return {
    trust: trustLine(context, config),
    definitions: await definitionsLine(context.home, config),
    folders: foldersLine(context, config),
  };
}

/** Names the fields as the JSON report does. */
export function jsonSafety({ trust, definitions, folders }: Safety): Record<string, string> {
  return { trust, definitions, allowed_folders: folders };
}

export function showSafety(page: Page, safety: Safety): void {
  const subjects = Object.keys(LABELS) as (keyof Safety)[];
  const width = Math.max(...subjects.map((subject) => LABELS[subject].length));
  page.gap();
  page.text("Safety", { colour: page.palette.heading });
  for (const subject of subjects)
    page.text(`${LABELS[subject].padEnd(width)}  ${safety[subject]}`, { indent: 2, hang: width + 4 });
}

function foldersLine(context: Pick<CommandContext, "cwd" | "home" | "userHome">, { settings }: LoadedConfig): string {
  const workspace = workspaceOf(context);
  const { read = [], write = [], outside = "ask" } = settings?.paths ?? {};
  const own = workspace.folder ?? `none here, because ${workspace.reason}`;
  const more = [...read.map((path) => `${path} (read)`), ...write.map((path) => `${path} (write)`)];
  const rest = outside === "ask" ? "clients have to ask for other files" : "other files are refused";
  return printable(`${[own, ...more].join(", ")}; ${rest}`);
}

/** What is pinned of the servers that may run, as they listed it last. */
async function definitionsLine(home: string, { servers }: LoadedConfig): Promise<string> {
  const reports = await reportPins(
    home,
    servers.filter(({ trusted, disabled }) => trusted && !disabled),
  );
  const pinned = reports.reduce((sum, report) => sum + report.pinned, 0);
  const held = reports.flatMap((report) => report.held.map(({ server, name }) => printable(`${server}.${name}`)));
  const count = (change: string) =>
    reports.reduce((sum, report) => sum + report.changes.filter((each) => each.change === change).length, 0);
  const [changed, added] = [count("wording"), count("new")];
  const off = servers.filter(({ pin }) => pin === "off").map(({ name }) => printable(name));
  return [
    `${pinned} pinned`,
    ...(held.length === 0 ? [] : [`${held.length} held (${shortList(held)}): trunkline tools --changes`]),
    ...(changed === 0 ? [] : [`${changed} changed`]),
    ...(added === 0 ? [] : [`${added} new`]),
    ...(off.length === 0 ? [] : [`not pinned: ${shortList(off)}`]),
  ].join(", ");
}

function shortList(names: readonly string[]): string {
  const more = names.length - 3;
  return `${names.slice(0, 3).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function trustLine({ env }: Pick<CommandContext, "env">, { servers }: LoadedConfig): string {
  if (env.TRUNKLINE_TRUST === "all") return "TRUNKLINE_TRUST=all is set, so every project file counts as approved";
  const ofProject = servers.filter(({ scope }) => scope === "project");
  const open = ofProject.filter(({ trusted }) => !trusted).length;
  if (ofProject.length === 0) return "this project starts nothing";
  if (open === 0) return `you approved ${quantity(ofProject.length, "server")} of this project`;
  return `${quantity(open, "server")} of this project not approved and not started: trunkline trust`;
}
