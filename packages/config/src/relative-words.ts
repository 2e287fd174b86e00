// Finds words of a command that depend on the folder it is started in. The user's own servers start in a folder of their
// own, so `.` does not mean the workspace there, and a script with a relative path is not found.
import { existsSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { redactedArgs } from "@trunkline/core";

interface Words {
  readonly command?: string;
  readonly args?: readonly string[];
}

const VARIABLE = "${workspaceFolder}";
/** Programs whose first plain argument is a file to run. */
const INTERPRETERS =
  /^(?:node|nodejs|python[\d.]*|deno|bun|tsx|ts-node|ruby|php|perl|sh|bash|zsh|java|uv|poetry|pipenv)$/;
const SCRIPT = /\.(?:[cm]?[jt]sx?|py|rb|php|pl|sh|jar)$/i;
/** After these options comes code or the name of a module, not a file, or they set the folder themselves. */
const NO_FILE = /^-(?:e|p|c|m|-eval|-print|-module|-(?:directory|project|cwd)(?:=.*)?)$/;

/**
 * Says which words of a command are relative, and shows the entry that works from every folder. Empty if all is well.
 * Files are looked up in `folder` to suggest their full paths.
 */
export function adviceOnRelativeWords({ command = "", args = [] }: Words, folder: string): string | undefined {
  const script = scriptAt(command, args);
  const better = args.map((word, index) => (index === script ? fullPath(word, folder) : withVariable(word)));
  const betterCommand = isRelativePath(command) ? fullPath(command, folder) : command;
  const changed = [
    ...(betterCommand === command ? [] : [command]),
    ...args.filter((word, index) => word !== better[index]),
  ];
  if (changed.length === 0) return undefined;
  const words = changed.map((word) => JSON.stringify(redactedArgs([word])[0])).join(" and ");
  const entry = [
    ...(betterCommand === command ? [] : [`"command": ${JSON.stringify(betterCommand)}`]),
    ...(changed.length === 1 && betterCommand !== command ? [] : [`"args": ${JSON.stringify(redactedArgs(better))}`]),
  ];
  const verb = changed.length === 1 ? "is" : "are";
  return `${words} ${verb} relative, but your own servers start in an empty folder. Write ${entry.join(", ")}`;
}

/** Returns the place of the file that an interpreter would run, if its path is relative. */
function scriptAt(command: string, args: readonly string[]): number {
  const program = (command.split(/[/\\]/).at(-1) ?? "").replace(/\.(?:exe|cmd)$/i, "");
  if (!INTERPRETERS.test(program)) return -1;
  for (const [index, word] of args.entries()) {
    if (NO_FILE.test(word)) return -1;
    if (SCRIPT.test(word)) return isPlace(word) || word.startsWith("-") ? -1 : index;
  }
  return -1;
}

/** Whether a word is a full path, a URL, or starts with a variable. */
function isPlace(word: string): boolean {
  return isAbsolute(word) || /^(?:~|\$|[A-Za-z]:[\\/]|[a-z][a-z\d+.-]+:|@)/.test(word);
}

/** `./bin/server`, `bin/server`: a path that depends on the folder. A bare name is looked up on the PATH. */
function isRelativePath(command: string): boolean {
  return /[/\\]/.test(command) && !isPlace(command);
}

function fullPath(word: string, folder: string): string {
  const found = resolve(folder, word);
  return existsSync(found) ? found : `/full/path/to/${word.replace(/^(?:\.{1,2}[/\\])+/, "")}`;
}

/** Replaces a leading `.` or `./`, also after `--option=`, `src=` and before `:` as in `-v .:/data`. */
function withVariable(word: string): string {
  return word.replace(
    /(^(?:--?[\w-]+=)?|[,=](?:src|source)=|^(?:src|source)=)(\.\.?)(?=$|[/\\]|:[/\\])/,
    (_, before: string, dots: string) => `${before}${VARIABLE}${dots === ".." ? "/.." : ""}`,
  );
}
