// Shows the person the address of a sign-in and takes the address it ended at, where the browser cannot bring it back.
import { createInterface } from "node:readline";
import type { SignInRequest } from "@trunkline/client";
import { isTrunklineError, printable } from "@trunkline/core";
import { type CommandContext, isAtTerminal } from "./context.js";
import { hasDisplay, openAddress } from "./open-address.js";

/** Asks the person to sign in. At a terminal, the end of input is a no. */
export async function askToSignIn(
  context: CommandContext,
  request: SignInRequest,
  options: { browser: boolean },
): Promise<"completed" | "cancelled"> {
  const { server, url, submit, signal } = request;
  const atTerminal = isAtTerminal(context);
  context.note(`To sign in to "${printable(server)}", open this address of ${new URL(url).host}:`);
  // Not redacted: a client id that came from a variable is part of the address.
  context.io.stderr.write(`\n  ${printable(url)}\n\n`);
  // Not awaited, for nothing depends on it: the address is on the screen.
  if (atTerminal && options.browser && hasDisplay(context.env)) void openAddress(new URL(url), context);
  context.note(
    "Waiting for the browser to come back. If it cannot reach this machine, copy the address that it ends at,",
  );
  context.note("although it shows an error there, and paste it here.");
  const lines = createInterface({ input: context.io.stdin });
  try {
    return await new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve("completed"), { once: true });
      lines.on("line", (line) => {
        if (line.trim() === "") return;
        submit(line).catch((error: unknown) => {
          // What was pasted may hold a code, so it is not repeated.
          context.note(isTrunklineError(error) ? `${error.message} ${error.hint ?? ""}`.trim() : String(error));
        });
      });
      // A program that has nothing to paste closes its end; the browser may come back all the same.
      lines.once("close", () => {
        if (atTerminal) resolve("cancelled");
      });
    });
  } finally {
    lines.close();
    context.io.stdin.pause();
  }
}
