import { type Cli, mcpOption, mcpPathOf } from "../flags.js";

const RUN_NOTES = `
A script is TypeScript or JavaScript (.ts, .mts, .js, .mjs, .cjs; without an extension it is TypeScript) and needs no build:
  import { hub, store, model, agent, args } from "trunkline";
Arguments after the script belong to the script; put options of run before it. \`-\` reads the script from standard input.
The exit code is the script's own, 1 after an uncaught error, or 2 if it has a syntax error.`;

export function addRun({ program, context, setExitCode }: Cli): void {
  program
    .command("run")
    .usage("[options] <script> [args…]")
    .argument("<script>", "a file, or - for standard input")
    .argument("[args...]", "the script's `args`")
    .passThroughOptions()
    .addOption(mcpOption())
    .addHelpText("after", RUN_NOTES)
    .action(async (script: string, args: string[], _options: unknown, command) => {
      const { run } = await import("./run.js");
      // The script has ended on its own terms, whatever signal arrived.
      setExitCode(await run(context, { script, args, mcp: mcpPathOf(command) }), { inOrder: true });
    });
}
