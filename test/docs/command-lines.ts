// Finds our commands in a shell block and checks that the program accepts them.
import { buildProgram } from "../../packages/cli/src/program.js";
import { createContext } from "../../packages/cli/src/terminal/context.js";
import { Interrupts } from "../../packages/cli/src/terminal/interrupts.js";
import { processIo } from "../../packages/cli/src/terminal/process-io.js";

type Command = Awaited<ReturnType<typeof buildProgram>>;

/** Returns the arguments of each `trunkline` call in a script. */
export function commandLinesIn(script: string): string[][] {
  const lines = withoutHereDocuments(script.replace(/\\\n/g, " ")).split("\n");
  return lines.flatMap((line) =>
    commandsOf(line).flatMap((words) => {
      const start = words.findIndex((word) => !/^\w+=/.test(word));
      const own = words.slice(Math.max(start, 0));
      if (own[0] === "npx" && own[1] === "trunkline") return [own.slice(2)];
      return own[0] === "trunkline" ? [own.slice(1)] : [];
    }),
  );
}

/** Says why the program would reject these arguments, or returns undefined if it would not. Runs nothing. */
export async function refusalOf(words: readonly string[]): Promise<string | undefined> {
  // The program alone is valid: it shows where the user stands.
  if (words.length === 0) return undefined;
  const program = await buildProgram(createContext(processIo(new Interrupts())), () => {});
  silence(program);
  try {
    await program.parseAsync(words, { from: "user" });
    return undefined;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "commander.helpDisplayed" || code === "commander.version") return undefined;
    return error instanceof Error ? error.message : String(error);
  }
}

function silence(command: Command): void {
  command.exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {} });
  if (command.commands.length === 0) command.action(() => {});
  command.commands.forEach(silence);
}

function withoutHereDocuments(script: string): string {
  return script.replace(/<<'?(\w+)'?([^\n]*)\n[\s\S]*?^\1$/gm, "$2");
}

/** Splits a line into commands at pipes and the like, each as unquoted words. */
function commandsOf(line: string): string[][] {
  const commands: string[][] = [[]];
  const tokens = line.matchAll(/\s*(?:(#.*)|(\|\||&&|[|;&])|((?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"|;&\\])+))/gy);
  for (const [whole, comment, separator, word] of tokens) {
    if (comment !== undefined && /^\s|^#/.test(whole)) break;
    if (separator !== undefined) commands.push([]);
    else commands.at(-1)?.push((word ?? "").replace(/'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/g, "$1$2$3"));
  }
  return commands;
}
