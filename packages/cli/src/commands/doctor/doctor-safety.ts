// The safety section of `trunkline doctor`: one line per subject, always in the same order.
import type { LoadedConfig } from "@trunkline/client";
import { printable } from "@trunkline/core";
import { workspaceOf } from "../../app/folders.js";
import type { CommandContext } from "../../terminal/context.js";
import { quantity } from "../../terminal/trust-prompt.js";

/** What is safe by default and what is not, in one sentence each. */
export interface Safety {
  readonly trust: string;
  /** The folders that clients of `serve` may use. */
  readonly folders: string;
}

/** The labels of the text report, in the order in which they are shown. */
const LABELS: Readonly<Record<keyof Safety, string>> = { trust: "trust", folders: "allowed folders" };

export function safetyOf(
  context: Pick<CommandContext, "cwd" | "env" | "home" | "userHome">,
  config: LoadedConfig,
): Safety {
  return { trust: trustLine(context, config), folders: foldersLine(context, config) };
}

/** Names the fields as the JSON report does. */
export function jsonSafety({ trust, folders }: Safety): Record<string, string> {
  return { trust, allowed_folders: folders };
}

export function* textSafety(safety: Safety): Generator<string> {
  const subjects = Object.keys(LABELS) as (keyof Safety)[];
  const width = Math.max(...subjects.map((subject) => LABELS[subject].length));
  yield "Safety";
  for (const subject of subjects) yield `  ${LABELS[subject].padEnd(width)}  ${safety[subject]}`;
}

function foldersLine(context: Pick<CommandContext, "cwd" | "home" | "userHome">, { settings }: LoadedConfig): string {
  const workspace = workspaceOf(context);
  const { read = [], write = [], outside = "ask" } = settings?.paths ?? {};
  const own = workspace.folder ?? `none here, because ${workspace.reason}`;
  const more = [...read.map((path) => `${path} (read)`), ...write.map((path) => `${path} (write)`)];
  const rest = outside === "ask" ? "clients have to ask for other files" : "other files are refused";
  return printable(`${[own, ...more].join(", ")}; ${rest}`);
}

function trustLine({ env }: Pick<CommandContext, "env">, { servers }: LoadedConfig): string {
  if (env.TRUNKLINE_TRUST === "all") return "TRUNKLINE_TRUST=all is set, so every project file counts as approved";
  const ofProject = servers.filter(({ scope }) => scope === "project");
  const open = ofProject.filter(({ trusted }) => !trusted).length;
  if (ofProject.length === 0) return "this project starts nothing";
  if (open === 0) return `you approved ${quantity(ofProject.length, "server")} of this project`;
  return `${quantity(open, "server")} of this project not approved and not started: trunkline trust`;
}
