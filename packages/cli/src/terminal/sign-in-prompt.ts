// Shows the user a sign-in URL, and reads the final redirect URL if the browser cannot deliver it.
import { createInterface } from "node:readline";
import type { SignInRequest } from "@trunkline/client";
import { isTrunklineError, printable } from "@trunkline/core";
import { type CommandContext, isAtTerminal } from "./context.js";
import { hasDisplay, openAddress } from "./open-address.js";

/** Asks the user to sign in. At a terminal, the end of input means no. */
export async function askToSignIn(
  context: CommandContext,
  request: SignInRequest,
  options: { browser: boolean },
): Promise<"completed" | "cancelled"> {
  const { server, url, submit, signal } = request;
  const atTerminal = isAtTerminal(context);
  context.note(`To sign in to "${printable(server)}", open this URL on ${new URL(url).host}:`);
  // Not redacted: a client id from a variable is part of the URL.
  context.io.stderr.write(`\n  ${printable(url)}\n\n`);
  // Not awaited: nothing depends on it, because the URL is on the screen.
  if (atTerminal && options.browser && hasDisplay(context.env)) void openAddress(new URL(url), context);
  context.note("Waiting for the browser to return. If it cannot reach this machine, copy the URL it ends at,");
  context.note("even if the page shows an error, and paste it here.");
  const lines = createInterface({ input: context.io.stdin });
  try {
    return await new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve("completed"), { once: true });
      lines.on("line", (line) => {
        if (line.trim() === "") return;
        submit(line).catch((error: unknown) => {
          // The pasted text may contain a code, so it is not repeated.
          context.note(isTrunklineError(error) ? `${error.message} ${error.hint ?? ""}`.trim() : String(error));
        });
      });
      // A program with nothing to paste closes its end; the browser can still return.
      lines.once("close", () => {
        if (atTerminal) resolve("cancelled");
      });
    });
  } finally {
    lines.close();
    context.io.stdin.pause();
  }
}
