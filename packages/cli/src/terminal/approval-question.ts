// How a user is asked to approve something of a project: always with the same words.
import { TrunklineError } from "@trunkline/core";
import type { CommandContext } from "./context.js";
import { askYesNo } from "./questions.js";

const SUBJECTS = {
  project: { name: "what this project would run", command: "trunkline trust" },
  workspace: { name: "this workspace", command: "trunkline trust --workspace" },
  store: { name: "this store", command: "trunkline trust --store" },
} as const;

/** What can be approved. The caller has shown it to the user before. */
type ApprovalSubject = keyof typeof SUBJECTS;

/** Asks at the terminal; after a no, says how to be asked again. */
export async function askApproval(context: CommandContext, subject: ApprovalSubject): Promise<boolean> {
  const { name, command } = SUBJECTS[subject];
  if (await askYesNo(context, `Approve ${name}?`)) return true;
  context.note(`Not approved. \`${command}\` asks again.`);
  return false;
}

/** The error for a command whose purpose is the approval, if there is no terminal. */
export function cannotAskApproval(subject: ApprovalSubject): TrunklineError {
  const { name, command } = SUBJECTS[subject];
  return new TrunklineError("USAGE", "Not approved: there is no terminal to ask on.", {
    hint: `If you trust it, approve ${name} with \`${command} --yes\`.`,
  });
}
