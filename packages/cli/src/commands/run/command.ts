import { type Cli, mcpOption, mcpPathOf } from "../flags.js";

const RUN_NOTES = `
A script is TypeScript or JavaScript (.ts, .mts, .js, .mjs, .cjs; without an ending it is TypeScript) and needs no build:
  import { hub, store, model, agent, args } from "trunkline";
What stands behind the script is the script's: options of run stand before it. \`-\` reads it from standard input.
It ends with its own exit code, or with 1 after an error that it did not catch.`;

/** Adds `run`. */
export function addRun({ program, context, setExitCode }: Cli): void {
  program
    .command("run")
    .usage("[options] <script> [args…]")
    .argument("<script>", "a file, or - for standard input")
    .argument("[args...]", "what the script gets as `args`")
    .passThroughOptions()
    .addOption(mcpOption())
    .addHelpText("after", RUN_NOTES)
    .action(async (script: string, args: string[], _options: unknown, command) => {
      const { run } = await import("./run.js");
      // The script has seen to its own end, whatever signal came.
      setExitCode(await run(context, { script, args, mcp: mcpPathOf(command) }), { inOrder: true });
    });
}
