// One interactive sign-in, from the metadata to the tokens. The SDK does the protocol; here is what it leaves to its user:
// the listener, the state, the person, and where things are kept.
import { randomBytes, timingSafeEqual } from "node:crypto";
import {
  auth,
  computeScopeUnion,
  type FetchLike,
  OAuthError,
  validateAuthorizationResponseIssuer,
} from "@modelcontextprotocol/client";
import { abortable, isTrunklineError, messageOf, TrunklineError, withDeadline } from "@trunkline/core";
import { currentGrant, grantOf } from "./credentials.js";
import { discover } from "./discovery.js";
import { listenOnLoopback } from "./loopback.js";
import { requireWayToRegister } from "./registration.js";
import { SignInProvider, type SignInProviderOptions } from "./sign-in-provider.js";

/** What a person needs in order to sign in. */
export interface SignInRequest {
  readonly server: string;
  /** Where to sign in. Show its host: it is what the person trusts. */
  readonly url: string;
  /**
   * For a browser that cannot reach this machine: takes the address it was sent to at the end, as the person copied it.
   * Rejects with `INVALID_ARGUMENT` where that is not the address of this sign-in; another try is welcome.
   */
  readonly submit: (redirectUrl: string) => Promise<void>;
  /** Aborts when the sign-in has ended, so that nobody goes on waiting for an address to be pasted. */
  readonly signal: AbortSignal;
}

/**
 * How a person gets to see the address of a sign-in. `completed`: the person was sent there, and the browser will come
 * back, or has; `cancelled`: the person does not want to. To throw fails the connect.
 */
export type SignIn = (request: SignInRequest) => Promise<"completed" | "cancelled">;

/** What a sign-in needs. */
interface SignInOptions extends SignInProviderOptions {
  readonly server: string;
  readonly serverUrl: URL;
  readonly ask: SignIn;
  readonly fetch: FetchLike;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** How long a person may take. */
export const SIGN_IN_TIMEOUT_MS = 5 * 60_000;

/** Signs in and keeps what came of it. `cancelled`: the person, or the authorization server on their behalf, said no. */
export async function signIn(options: SignInOptions): Promise<"completed" | "cancelled"> {
  const { server, timeoutMs } = options;
  try {
    return await withDeadline({ what: `Signing in to "${server}"`, timeoutMs, signal: options.signal }, (signal) =>
      run({ ...options, signal }),
    );
  } catch (error) {
    if (!isTrunklineError(error, "TIMEOUT")) throw error;
    throw new TrunklineError("AUTH_REQUIRED", `Nobody signed in to "${server}" in time.`, {
      cause: error,
      hint: `Try again: trunkline auth login ${server}`,
      data: { cause: "unauthorized" },
    });
  }
}

async function run(options: SignInOptions): Promise<"completed" | "cancelled"> {
  const { serverUrl, settings, challenge, signal } = options;
  const fetchFn: FetchLike = (url, init) => options.fetch(url, { ...init, signal: init?.signal ?? signal });
  const { issuer, ...found } = await discover(serverUrl, {
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
  const wanted = computeScopeUnion(
    settings?.scope ?? challenge.scope,
    record.wantedScope,
    // What is asked for in addition must not cost what was granted already.
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
  const request = { serverUrl, fetchFn, ...(wanted === undefined ? {} : { scope: wanted }) };
  await auth(provider, { ...request, forceReauthorization: true });
  const url = provider.authorizationUrl;
  if (url === undefined) throw new TrunklineError("INTERNAL", "The sign-in gave no address to go to.");
  if (!/^https?:$/.test(url.protocol)) {
    throw new TrunklineError(
      "PROTOCOL",
      `The authorization server of "${options.server}" has no web address to sign in at.`,
    );
  }

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
  await auth(provider, { ...request, authorizationCode: code, ...(iss === undefined ? {} : { iss }) });
  return "completed";
}

/** Shows the address to the person, and waits for the browser, for a pasted address, or for a no. */
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
      throw new TrunklineError("INVALID_ARGUMENT", "That is not the address this sign-in ends at.", {
        hint: "Copy the whole address from the browser's address bar; it contains code= and state=.",
      });
    },
  };
  const answer = (async () => await ask(request))().catch((error: unknown) => {
    throw new SignInCallbackError(error);
  });
  // Completed means that the person is on the way; the browser's coming back is what ends the wait.
  const refused = answer.then((said) => (said === "cancelled" ? "cancelled" : new Promise<never>(() => {})));
  try {
    return await abortable(signal, Promise.race([flow.redirected, refused]));
  } finally {
    ended.abort();
    // What the callback still says when the sign-in is over changes nothing.
    refused.catch(() => {});
  }
}

/** The host's own callback threw: it is the host that knows what that means. */
export class SignInCallbackError extends Error {
  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
  }
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
