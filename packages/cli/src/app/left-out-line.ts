// One line about what was left out of a folder.
import { printable } from "@trunkline/core";
import type { AddResult } from "@trunkline/store";
import { counted } from "../terminal/output.js";

const SHOWN_FOLDERS = 3;

/** Returns a line such as `Skipped 3 sensitive files, node_modules/ and 2 files over 10 MB.`, if there is anything to say. */
export function leftOutLine(leftOut: AddResult["leftOut"]): string | undefined {
  if (leftOut === undefined) return undefined;
  const { sensitive, folders, large } = leftOut;
  const more = folders.length - SHOWN_FOLDERS;
  const parts = [
    ...(sensitive > 0 ? [counted(sensitive, "sensitive file")] : []),
    ...folders.slice(0, SHOWN_FOLDERS).map((name) => `${printable(name)}/`),
    ...(more > 0 ? [counted(more, "more folder")] : []),
    ...(large > 0 ? [`${counted(large, "file")} over 10 MB`] : []),
  ];
  const last = parts.pop();
  return `Skipped ${parts.length === 0 ? last : `${parts.join(", ")} and ${last}`}.`;
}
