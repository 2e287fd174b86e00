// The safety section of `trunkline doctor`: one line per subject, always in the same order.
import type { LoadedConfig } from "@trunkline/client";
import type { CommandContext } from "../../terminal/context.js";
import { quantity } from "../../terminal/trust-prompt.js";

/** What is safe by default and what is not, in one sentence each. */
export interface Safety {
  readonly trust: string;
}

/** The labels of the text report, in the order in which they are shown. */
const LABELS: Readonly<Record<keyof Safety, string>> = { trust: "trust" };

export function safetyOf(context: Pick<CommandContext, "env">, config: LoadedConfig): Safety {
  return { trust: trustLine(context, config) };
}

/** Names the fields as the JSON report does. */
export function jsonSafety({ trust }: Safety): Record<string, string> {
  return { trust };
}

export function* textSafety(safety: Safety): Generator<string> {
  const subjects = Object.keys(LABELS) as (keyof Safety)[];
  const width = Math.max(...subjects.map((subject) => LABELS[subject].length));
  yield "Safety";
  for (const subject of subjects) yield `  ${LABELS[subject].padEnd(width)}  ${safety[subject]}`;
}

function trustLine({ env }: Pick<CommandContext, "env">, { servers }: LoadedConfig): string {
  if (env.TRUNKLINE_TRUST === "all") return "TRUNKLINE_TRUST=all is set, so every project file counts as approved";
  const ofProject = servers.filter(({ scope }) => scope === "project");
  const open = ofProject.filter(({ trusted }) => !trusted).length;
  if (ofProject.length === 0) return "this project starts nothing";
  if (open === 0) return `you approved ${quantity(ofProject.length, "server")} of this project`;
  return `${quantity(open, "server")} of this project not approved and not started: trunkline trust`;
}
