import type { HttpServer, LoadedConfig } from "@trunkline/client";
import { forgetSignIn, type KeptSignIn, readSignIn } from "@trunkline/client/internal";
import { isRemote } from "@trunkline/config";
import { formatMs, printable, printableJson, redactedUrl, TrunklineError } from "@trunkline/core";
import { openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import type { CommandContext } from "../../terminal/context.js";
import { reporting } from "../../terminal/json-output.js";
import { askToSignIn } from "../../terminal/sign-in-prompt.js";
import { table } from "../../terminal/table.js";

export interface LoginOptions {
  server: string;
  /** Whether to open a browser when at a terminal. */
  browser: boolean;
  json?: boolean;
  mcp: string | undefined;
}

/** Signs the user in to a server, then connects to check that it worked. */
export async function login(context: CommandContext, options: LoginOptions): Promise<number> {
  const outcome: LoginOutcome = { server: options.server, state: "not signed in" };
  return await reporting(context, { json: options.json, outcome }, (shown) => signIn(shown, options, outcome));
}

interface LoginOutcome {
  readonly server: string;
  state: "signed in" | "already signed in" | "no sign-in needed" | "not signed in";
  tools?: number;
}

async function signIn(
  context: CommandContext,
  { server, browser, mcp }: LoginOptions,
  outcome: LoginOutcome,
): Promise<number> {
  let asked = false;
  await using app = openApp(context, {
    mcp,
    wanted: (name) => name === server,
    signIn: async (request) => {
      asked = true;
      return await askToSignIn(context, request, { browser });
    },
  });
  const hub = await app.hub();
  const definition = signInServer(await app.config(), server);
  if ((await hub.authenticate(definition.name, context.signal)) === "cancelled") {
    context.note(`Not signed in to "${server}".`);
    return EXIT.signIn;
  }
  const status = hub.status().find(({ name }) => name === server);
  const tools = `${status?.toolCount ?? 0} ${status?.toolCount === 1 ? "tool" : "tools"}`;
  outcome.state = asked ? "signed in" : status?.signIn?.signedIn ? "already signed in" : "no sign-in needed";
  outcome.tools = status?.toolCount ?? 0;
  if (asked) context.out(`Signed in to "${server}": ${tools}.`);
  else if (status?.signIn?.signedIn) {
    context.out(`Already signed in to "${server}": ${tools}. To use another account: trunkline auth logout ${server}`);
  } else context.out(`"${server}" needs no sign-in: ${tools}.`);
  return EXIT.success;
}

/** Signs out of a server: deletes the saved sign-in and tells the authorization server. */
export async function logout(
  context: CommandContext,
  { server, json, mcp }: { server: string; json?: boolean; mcp: string | undefined },
): Promise<number> {
  const definition = signInServer(await openApp(context, { mcp }).config(), server);
  const { home, logger, signal } = context;
  const onSecrets = (values: readonly string[]) => void context.redactor.add(...values);
  const wasSignedIn = await forgetSignIn(definition, { home, logger, signal, onSecrets });
  if (json) context.out(printableJson({ server, wasSignedIn }, 2));
  else context.out(wasSignedIn ? `Signed out of "${server}".` : `You were not signed in to "${server}".`);
  return EXIT.success;
}

export interface StatusOptions {
  server: string | undefined;
  json?: boolean;
  mcp: string | undefined;
}

/** Shows saved sign-ins without connecting. The exit code is 3 if a single server is named and it is not signed in. */
export async function status(context: CommandContext, options: StatusOptions): Promise<number> {
  const config = await openApp(context, { mcp: options.mcp }).config();
  const servers =
    options.server === undefined ? config.servers.filter(isRemote) : [signInServer(config, options.server)];
  const { home } = context;
  const now = context.clock.now();
  const found = await Promise.all(
    servers.map(async (server) => ({ server, kept: await readSignIn(server, { home }) })),
  );
  if (options.json) {
    const shown = found.map(({ server, kept }) => ({
      server: server.name,
      url: redactedUrl(server.url),
      state: stateOf(kept, now),
      ...kept,
    }));
    context.out(printableJson(context.redactor.value(shown), 2));
  } else if (found.length === 0) context.note("No remote server is configured.");
  else {
    const rows = found.map(({ server, kept }) => [
      server.name,
      stateOf(kept, now),
      context.redactor.text(factsOf(kept, now)),
    ]);
    for (const line of table(rows)) context.out(printable(line));
  }
  const [only] = found;
  const isOut =
    options.server !== undefined &&
    only !== undefined &&
    stateOf(only.kept, now) !== "signed in" &&
    only.kept.kind === "person";
  return isOut ? EXIT.signIn : EXIT.success;
}

function stateOf(kept: KeptSignIn, now: number): string {
  if (kept.kind === "header") return "header";
  if (kept.kind === "client-credentials") return "client credentials";
  if (!kept.signedIn) return "not signed in";
  return isOver(kept, now) && !kept.renewable ? "expired" : "signed in";
}

function factsOf(kept: KeptSignIn, now: number): string {
  if (kept.kind === "header") return "its entry has an Authorization header";
  if (kept.kind === "client-credentials") return "signs in with its own credentials on first use";
  if (!kept.signedIn) return "";
  const left = kept.expiresAt === undefined ? undefined : Date.parse(kept.expiresAt) - now;
  const facts = [
    kept.issuer === undefined ? undefined : `at ${kept.issuer}`,
    kept.scope === undefined ? undefined : `for ${kept.scope}`,
    kept.renewable
      ? "renewed automatically"
      : left === undefined
        ? undefined
        : left > 0
          ? `valid for ${formatMs(left)}`
          : "expired: sign in again",
  ];
  return facts.filter((fact) => fact !== undefined).join(", ");
}

function isOver({ expiresAt }: { expiresAt?: string }, now: number): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) <= now;
}

/** Finds the named server. Throws if it does not exist or is a local program, which needs no sign-in. */
function signInServer(config: LoadedConfig, name: string): HttpServer {
  const server = config.servers.find((candidate) => candidate.name === name);
  if (server === undefined) {
    const known = config.servers.filter(isRemote).map((candidate) => candidate.name);
    throw new TrunklineError("SERVER_NOT_FOUND", `No server is named "${name}".`, {
      hint: known.length > 0 ? `Remote servers: ${known.join(", ")}.` : "No remote server is configured.",
    });
  }
  if (isRemote(server)) return server;
  throw new TrunklineError("USAGE", `"${name}" is a local program: there is nothing to sign in to.`, {
    hint: "Pass what it needs under env in its entry.",
  });
}
