// One interactive sign-in, from the metadata to the tokens. The SDK handles the protocol; this file adds the listener,
// the state, the user and the storage.
import { randomBytes, timingSafeEqual } from "node:crypto";
import type { FetchLike } from "@modelcontextprotocol/client";
import type { HttpServer } from "@trunkline/config";
import { abortable, isTrunklineError, messageOf, TrunklineError, withDeadline } from "@trunkline/core";
import type { SignIn, SignInRequest } from "../channel/channel.js";
import { currentGrant, grantOf } from "./credentials.js";
import { discover } from "./discovery.js";
import { listenOnLoopback } from "./loopback.js";
import { requireWayToRegister } from "./registration.js";
import { joinScopes } from "./scopes.js";
import type { SignInGuard } from "./sign-in-guard.js";
import { SignInProvider, type SignInProviderOptions } from "./sign-in-provider.js";

interface SignInOptions extends SignInProviderOptions {
  readonly server: string;
  readonly definition: HttpServer;
  readonly guard: SignInGuard;
  readonly ask: SignIn;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** How long the user may take. */
export const SIGN_IN_TIMEOUT_MS = 5 * 60_000;

/**
 * Signs in and saves the result. Returns `cancelled` if the user, or the authorization server on their behalf,
 * declined.
 */
export async function signIn(options: SignInOptions): Promise<"completed" | "cancelled"> {
  const { server, timeoutMs } = options;
  try {
    return await withDeadline({ what: `Signing in to "${server}"`, timeoutMs, signal: options.signal }, (signal) =>
      run({ ...options, signal }),
    );
  } catch (error) {
    if (!isTrunklineError(error, "TIMEOUT")) throw error;
    throw new TrunklineError("AUTH_REQUIRED", `The sign-in to "${server}" was not completed in time.`, {
      cause: error,
      hint: `Try again: trunkline auth login ${server}`,
      data: { cause: "unauthorized" },
    });
  }
}

async function run(options: SignInOptions): Promise<"completed" | "cancelled"> {
  const { definition, guard, settings, challenge, signal } = options;
  const { auth, OAuthError, validateAuthorizationResponseIssuer } = await import("@modelcontextprotocol/client");
  const serverUrl = new URL(definition.url);
  const fetchFn: FetchLike = (url, init) => guard.fetch(url, { ...init, signal: init?.signal ?? signal });
  const { issuer, ...found } = await discover(definition, {
    guard,
    fetchFn,
    resourceMetadataUrl: challenge.resourceMetadataUrl,
  });
  const record = await options.credentials.read(options.key);
  const registered = grantOf(record, issuer);
  requireWayToRegister(found, { ...options, isRegistered: registered?.client !== undefined });
  const state = randomBytes(32).toString("base64url");

  let accept: (params: URLSearchParams) => void = () => {};
  const redirected = new Promise<URLSearchParams>((resolve) => {
    accept = resolve;
  });
  const onRedirect = (params: URLSearchParams) => {
    if (!isSame(params.get("state") ?? "", state) || !(params.has("code") || params.has("error"))) return false;
    options.onSecrets([params.get("code") ?? ""]);
    accept(params);
    return true;
  };
  await using loopback = await listenOnLoopback({
    preferred: settings?.redirectUri ?? registered?.redirectUri,
    fixed: settings?.redirectUri !== undefined,
    onRedirect,
  });
  const wanted = joinScopes(
    settings?.scope ?? challenge.scope,
    record.wantedScope,
    // Requesting another scope must not lose the ones already granted.
    record.wantedScope === undefined ? undefined : currentGrant(record)?.tokens?.scope,
  );
  const provider = new SignInProvider(options, {
    redirectUri: loopback.redirectUri,
    state,
    scope: record.wantedScope,
    discovery: {
      ...found,
      ...(challenge.resourceMetadataUrl === undefined
        ? {}
        : { resourceMetadataUrl: challenge.resourceMetadataUrl.href }),
    },
  });
  const request = { serverUrl, fetchFn, scope: wanted };
  await auth(provider, { ...request, forceReauthorization: true });
  const url = provider.authorizationUrl;
  if (url === undefined) throw new TrunklineError("INTERNAL", "The sign-in produced no URL.");
  await guard.check(url);

  const params = await askPerson(options, { url: url.href, redirected, onRedirect });
  if (params === "cancelled") return "cancelled";
  const iss = params.get("iss") ?? undefined;
  const code = params.get("code");
  if (code === null) {
    const metadata = found.authorizationServerMetadata;
    validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata?.issuer,
      issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
    });
    const refusal = params.get("error") ?? "";
    if (refusal === "access_denied") return "cancelled";
    throw new OAuthError(refusal, params.get("error_description") ?? refusal);
  }
  await auth(provider, { ...request, authorizationCode: code, iss });
  return "completed";
}

/** Shows the URL and waits for the browser, a pasted URL, or a refusal. */
async function askPerson(
  { server, ask, signal }: SignInOptions,
  flow: { url: string; redirected: Promise<URLSearchParams>; onRedirect: (params: URLSearchParams) => boolean },
): Promise<URLSearchParams | "cancelled"> {
  const ended = new AbortController();
  const request: SignInRequest = {
    server,
    url: flow.url,
    signal: AbortSignal.any([ended.signal, signal]),
    async submit(redirectUrl) {
      const text = redirectUrl.trim();
      const params = URL.canParse(text) ? new URL(text).searchParams : new URLSearchParams();
      if (flow.onRedirect(params)) return;
      throw new TrunklineError("INVALID_ARGUMENT", "That is not the final URL of this sign-in.", {
        hint: "Copy the whole URL from the browser's address bar; it contains code= and state=.",
      });
    },
  };
  const answer = (async () => await ask(request))().catch((error: unknown) => {
    throw new SignInCallbackError(error);
  });
  // `completed` only means that the user was sent there; the wait ends when the browser returns.
  const refused = answer.then((said) => (said === "cancelled" ? "cancelled" : new Promise<never>(() => {})));
  try {
    return await abortable(signal, Promise.race([flow.redirected, refused]));
  } finally {
    ended.abort();
    // Ignore errors from the callback once the sign-in is over.
    refused.catch(() => {});
  }
}

/** The host's own callback threw, and only the host knows what that means. */
export class SignInCallbackError extends Error {
  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
  }
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
