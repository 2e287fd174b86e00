import { workspaceKey } from "@trunkline/gateway/journal";
import type { CommandContext } from "../terminal/context.js";
import { workspaceOf } from "./folders.js";

/** Identifies the workspace of a run in the journal and in recordings. */
export function workspaceKeyOf(context: CommandContext): string {
  return workspaceKey(workspaceOf(context).folder ?? context.cwd);
}
