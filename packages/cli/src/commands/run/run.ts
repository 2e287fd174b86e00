// `trunkline run`: runs a script with access to the hub, the store, models and agents. The script runs in this process
// and ends like any Node program: when it has nothing left to do.
import { EXIT } from "../../app/exit-codes.js";
import { installHooks, type LoadedModules } from "../../scripting/install-hooks.js";
import { findScript, type ScriptFile } from "../../scripting/script-file.js";
import { shownError } from "../../scripting/show-error.js";
import { openWorld, type World } from "../../scripting/world.js";
import type { CommandContext } from "../../terminal/context.js";

interface RunOptions {
  script: string;
  args: readonly string[];
  mcp: string | undefined;
}

const PACKAGE_URL = new URL("../../index.js", import.meta.url).href;
const SIGNALS = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated, SIGHUP: EXIT.hungUp } as const;

/**
 * Runs a script to the end of its top level and returns its exit code so far; pending work continues and can change the
 * code. If the script fails or is interrupted, this closes everything and ends the process.
 */
export async function run(context: CommandContext, options: RunOptions): Promise<number> {
  const script = await findScript(context, options.script);
  process.argv = [process.execPath, script.path, ...options.args];
  const interrupt = new AbortController();
  const world = openWorld({ context: { ...context, signal: interrupt.signal }, mcp: options.mcp });
  const modules = installHooks({ packageUrl: PACKAGE_URL, entry: script });

  let isEvaluated = false;
  context.signal.addEventListener("abort", () => {
    const name = signalName(context.signal.reason);
    // A script with its own listener gets the first signal; the second one always ends the process.
    if (process.listenerCount(name) > 1) return;
    interrupt.abort(name);
    void end(world, { context, code: SIGNALS[name] });
  });
  process.on("uncaughtException", (error) => {
    if (process.listenerCount("uncaughtException") > 1) return;
    void fail(error);
  });
  process.once("beforeExit", () => {
    if (isEvaluated || interrupt.signal.aborted) return;
    context.note(`${script.path}: a top-level await never settles, and nothing is left to wait for.`);
    void end(world, { context, code: EXIT.failure });
  });
  const fail = async (error: unknown) => {
    // Assume that errors after an interruption are caused by it.
    if (!interrupt.signal.aborted) {
      const { text, isSyntaxFault } = await describeFailure(error, { script, modules });
      context.note(text);
      await end(world, { context, code: isSyntaxFault && !isEvaluated ? EXIT.usage : EXIT.failure });
    }
    return await new Promise<never>(() => {});
  };

  try {
    await import(script.url);
  } catch (error) {
    return await fail(error);
  }
  isEvaluated = true;
  return Number(process.exitCode ?? EXIT.success);
}

/** Closes everything and ends the process, which the script's own timers and sockets would otherwise keep alive. */
async function end(world: World, { context, code }: { context: CommandContext; code: number }): Promise<void> {
  try {
    await world.close();
  } catch (error) {
    context.logger.warn("not closed properly", { error: String(error) });
  }
  // On Windows, writes to a pipe are still pending.
  await new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
  process.exit(code);
}

async function describeFailure(
  error: unknown,
  { script, modules }: { script: ScriptFile; modules: LoadedModules },
): Promise<{ text: string; isSyntaxFault: boolean }> {
  const shown = shownError(error);
  if (!(error instanceof SyntaxError)) return { text: shown, isSyntaxFault: false };
  // With its place on top, it is about a file. Otherwise the stack leads to a call of JSON.parse, or is empty.
  if (/^(?:file:\/\/|\/|[A-Za-z]:[\\/]).*:\d+(?::\d+)?\n/.test(shown)) return { text: shown, isSyntaxFault: true };
  if (/:\d+(?::\d+)?\)?$/m.test(shown)) return { text: shown, isSyntaxFault: false };
  const { findSyntaxFault } = await import("../../scripting/syntax-fault.js");
  const read = modules.urls().map((url) => ({ url, text: url === script.url ? script.text : undefined }));
  const place = findSyntaxFault(read);
  if (place === undefined) return { text: shown, isSyntaxFault: false };
  return { text: `${place}\n\n${shown}`, isSyntaxFault: true };
}

function signalName(reason: unknown): keyof typeof SIGNALS {
  return reason === "SIGTERM" || reason === "SIGHUP" ? reason : "SIGINT";
}
