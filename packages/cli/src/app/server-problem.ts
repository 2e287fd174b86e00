// What `doctor` and the console say about a server: what it runs, why it does not work, and what to do next.
import type { ServerStatus } from "@trunkline/client";
import { commandLine } from "../terminal/command-line.js";

interface ServerProblem {
  readonly message: string;
  /** What to do next. */
  readonly hint?: string;
}

/** Returns why a server cannot be used; undefined if nothing is wrong with it. */
export function serverProblem({ name, state, error, toolsError }: ServerStatus): ServerProblem | undefined {
  switch (state) {
    case "connected":
      return toolsError === undefined ? undefined : { message: `tools: ${toolsError.message}`, hint: toolsError.hint };
    case "disabled":
      return { message: "disabled", hint: `trunkline servers enable ${commandLine([name])}` };
    case "untrusted":
      return {
        message: "not started: its file has not been approved",
        hint: "Review and approve: trunkline trust",
      };
    case "failed":
    case "needs-auth":
    case "pending":
      return { message: `${error?.code ?? "FAILED"}: ${error?.message ?? "not connected"}`, hint: error?.hint };
  }
}

/** The command line or URL of a server, for people to read. */
export function serverTarget(config: ServerStatus["config"]): string {
  switch (config.type) {
    case "stdio":
      return commandLine([config.command, ...config.args]);
    case "in-process":
      return "in this process";
    default:
      return config.url;
  }
}
