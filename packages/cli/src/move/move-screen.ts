// Shows a move: the diff of every file, what stays, and what is wrong.
import { type ConfigEdit, entryIn, maskedText } from "@trunkline/config";
import { firstChars, isTrunklineError, printable, printableLines, unifiedDiff } from "@trunkline/core";
import type { AgentProgram } from "../install/agent-programs.js";
import { shownEntry } from "../install/shown-entry.js";
import type { CommandContext } from "../terminal/context.js";
import { homePath } from "../terminal/shown-path.js";
import { quantity } from "../terminal/trust-prompt.js";
import type { OwnChange } from "./move-files.js";
import type { FileChange, MovePlan } from "./move-plan.js";

/** A longer line is cut: a file without line breaks is one line. What our own files get is shown in full: it can run. */
const MAX_LINE = 300;

/** Prints the diff of every file that would change, without secrets. */
export function showDiffs(context: CommandContext, own: readonly OwnChange[], changes: readonly FileChange[]): void {
  let isMasked = false;
  // Our own file can be YAML, in which secrets are not found.
  for (const { target, after, edits } of own) if (!isJson(after)) showEntries(context, target.path, edits);
  for (const file of shownFiles(own, changes)) {
    showDiff(context, file);
    isMasked ||= diffOf(file).includes("…");
  }
  if (isMasked) context.out("… marks values and comments that are not shown.\n");
}

/** Returns the diff of every file that would change, without secrets, by path. Our own file has none if it is YAML. */
export function diffsOf(own: readonly OwnChange[], changes: readonly FileChange[]): ReadonlyMap<string, string> {
  return new Map(shownFiles(own, changes).map((file) => [file.path, printableLines(diffOf(file))]));
}

function shownFiles(own: readonly OwnChange[], changes: readonly FileChange[]): ShownFile[] {
  const tables = [["mcpServers"], ["servers"], ["metadata", "mcp"]];
  return [
    ...own
      .filter(({ after }) => isJson(after))
      .map(({ target: { path }, before, after }): ShownFile => {
        return { path, before: before?.toString("utf8"), after, format: "json", tables, isOwn: true };
      }),
    ...changes.map(({ path, before, after, program }): ShownFile => {
      return { path, before, after, format: program.format, tables: tablesOf(program) };
    }),
  ];
}

/** Shows what is written to a file without showing the file. */
function showEntries({ outPainted, palette }: CommandContext, path: string, edits: readonly ConfigEdit[]): void {
  outPainted(palette.heading(`+++ ${printable(path)} (entries only: it is not JSON)`));
  for (const edit of edits) {
    if (edit.op !== "set") continue;
    const shown = JSON.stringify({ [edit.name]: shownEntry(edit.entry) }, null, 2);
    for (const line of shown.split("\n").slice(1, -1)) outPainted(palette.success(`+${printable(line)}`));
  }
  outPainted("");
}

function isJson(text: string): boolean {
  try {
    entryIn(text, { format: "json", path: [] }, "");
    return true;
  } catch (error) {
    if (isTrunklineError(error)) return false;
    throw error;
  }
}

interface ShownFile {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string;
  readonly format: "json" | "toml";
  readonly tables: readonly (readonly string[])[];
  readonly isOwn?: boolean;
}

function diffOf({ path, before, after, format, tables }: ShownFile): string {
  const shown = (text: string) => maskedText(text, { format, tables }).replaceAll("\r\n", "\n");
  const name = printable(path);
  const from = before === undefined ? "/dev/null" : name;
  return unifiedDiff(shown(before ?? ""), shown(after), { from, to: name }).trimEnd();
}

function showDiff({ outPainted, palette }: CommandContext, file: ShownFile): void {
  for (const line of diffOf(file).split("\n")) {
    const isWhole = file.isOwn && line.startsWith("+");
    const clean = printableLines(isWhole ? line : firstChars(line, MAX_LINE));
    const isHead = /^(?:---|\+\+\+) /.test(line);
    outPainted(isHead ? palette.heading(clean) : colourOf(line, palette)(clean));
  }
  outPainted("");
}

function colourOf(line: string, { error, success, accent }: CommandContext["palette"]): (text: string) => string {
  if (line.startsWith("-")) return error;
  if (line.startsWith("+")) return success;
  return line.startsWith("@@") ? accent : (text) => text;
}

function tablesOf({ id, table }: AgentProgram): string[][] {
  if (id === "claude-code") return [[table], ["projects", "*", table]];
  return id === "vscode" ? [[table], ["mcp", table]] : [[table]];
}

const SHOWN_FOLDERS = 3;

/** Says which servers and files stay as they are, and why. */
export function* describeLeft(
  { staying, projects, elsewhere }: Pick<MovePlan, "staying" | "projects" | "elsewhere">,
  { userHome }: Pick<CommandContext, "userHome">,
): Generator<string> {
  const shown = (path: string) => printable(homePath(path, userHome));
  for (const { name, from, reason } of staying)
    yield `${printable(name)} stays in ${from.source.title} (${shown(from.path)}): ${printable(reason)}.`;
  for (const { path, source, servers } of projects) {
    const names = servers.map(({ name }) => printable(name)).join(", ");
    yield `${quantity(servers.length, "server")} (${names}) of this project ${servers.length === 1 ? "stays" : "stay"} in ${shown(path)}: others may share the file through git. \`trunkline import ${source.id} --move --include-project\` moves them, within the project.`;
  }
  for (const { path, source, elsewhere: others = [] } of elsewhere) {
    const names = [...new Set(others.map(({ name }) => printable(name)))].join(", ");
    const folders = [...new Set(others.map(({ folder }) => shown(folder)))];
    const more = folders.length > SHOWN_FOLDERS ? ` and ${folders.length - SHOWN_FOLDERS} more` : "";
    const only = `${folders.slice(0, SHOWN_FOLDERS).join(", ")}${more}`;
    yield `${quantity(others.length, "server")} (${names}) ${others.length === 1 ? "stays" : "stay"} in ${source.title} (${shown(path)}), which uses ${others.length === 1 ? "it" : "them"} only in ${only}. Run the command there to move ${others.length === 1 ? "it" : "them"}.`;
  }
}
