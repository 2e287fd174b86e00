// oauth: hello behind a sign-in. The authorization server is oidc-provider, in the same process and on the same port:
// discovery, registration, PKCE, resource indicators, refresh tokens, revocation, client credentials. Opening its
// sign-in page signs in and consents, so a test needs no browser, only browser.js. Tools: hello, repeat. Transports:
// --http, --sse. Options: --expires-in N (3600): the lifetime of access tokens in seconds. --keep-refresh: refresh
// tokens can be reused. --guard TOOL=SCOPE: the tool needs a scope that a first sign-in does not request. --deny:
// consent is refused. --client ID:SECRET: a manually registered client. --no-registration: clients cannot register
// themselves. --no-metadata: no protected-resource metadata, like servers of 2025-03-26. For tests: GET /test/counts;
// POST /test/expire (invalidates all access tokens issued so far), /test/revoke (refresh tokens too), /test/forget
// (registrations too), /test/fail-tokens?times=N (the next N token requests fail with 503).

import { randomBytes } from "node:crypto";
import { InMemoryServerEventBus } from "@modelcontextprotocol/server";
import Provider, { errors } from "oidc-provider";
import { hello, repeat } from "./greetings.js";
import { listen, pathOf, sendJson, sendRpcError } from "./network.js";
import { readOptions, wholeNumber } from "./options.js";
import { streamableHttp } from "./sdk-http.js";
import { createToolServer } from "./sdk-serve.js";
import { sseSessions } from "./sdk-sse.js";

/**
 * @typedef {import("./network.js").IncomingMessage} IncomingMessage
 * @typedef {import("./network.js").ServerResponse} ServerResponse
 */

const options = readOptions({
  "expires-in": { type: "string", default: "3600" },
  "keep-refresh": { type: "boolean", default: false },
  guard: { type: "string" },
  deny: { type: "boolean", default: false },
  client: { type: "string" },
  "no-registration": { type: "boolean", default: false },
  "no-metadata": { type: "boolean", default: false },
});
const accessTokenSeconds = wholeNumber(options["expires-in"], "--expires-in");
const [guardedTool, guardScope] = options.guard?.split("=") ?? [];
const mcpPath = options.sse ? "/sse" : "/mcp";
const metadataPath = `/.well-known/oauth-protected-resource${mcpPath}`;
const BASE_SCOPE = "greet";
const scopes = [BASE_SCOPE, ...(guardScope === undefined ? [] : [guardScope])];

/** Event counters. `unauthorized` counts 401 responses. */
const counts = {
  registrations: 0,
  authorizations: 0,
  unauthorized: 0,
  revocations: 0,
  grants: /** @type {Record<string, number>} */ ({}),
};
let failingTokenRequests = 0;
/** @type {Map<string, { value: any, endsAtMs: number }>} all data of the authorization server */
const kept = new Map();

/** In-memory storage for oidc-provider, cleared on request. */
class Storage {
  /** @param {string} name */
  constructor(name) {
    this.name = name;
  }

  /** @param {string} id @param {any} value @param {number} seconds */
  async upsert(id, value, seconds) {
    const endsAtMs = seconds === undefined ? Number.POSITIVE_INFINITY : Date.now() + seconds * 1000;
    kept.set(`${this.name}:${id}`, { value, endsAtMs });
  }

  /** @param {string} id */
  async find(id) {
    const found = kept.get(`${this.name}:${id}`);
    return found === undefined || found.endsAtMs <= Date.now() ? undefined : found.value;
  }

  /** @param {string} uid */
  async findByUid(uid) {
    return [...kept].find(([key, { value }]) => key.startsWith(`${this.name}:`) && value.uid === uid)?.[1].value;
  }

  async findByUserCode() {
    return undefined;
  }

  /** @param {string} id */
  async consume(id) {
    const found = kept.get(`${this.name}:${id}`);
    if (found !== undefined) found.value.consumed = Math.floor(Date.now() / 1000);
  }

  /** @param {string} id */
  async destroy(id) {
    kept.delete(`${this.name}:${id}`);
  }

  /** @param {string} grantId */
  async revokeByGrantId(grantId) {
    for (const [key, { value }] of kept) if (value.grantId === grantId) kept.delete(key);
  }
}

/** @param {string} origin */
function createProvider(origin) {
  const resource = `${origin}${mcpPath}`;
  const [clientId, clientSecret] = options.client?.split(":") ?? [];
  const provider = new Provider(origin, {
    adapter: Storage,
    clients:
      clientId === undefined
        ? []
        : [
            {
              client_id: clientId,
              client_secret: clientSecret,
              application_type: "native",
              redirect_uris: ["http://127.0.0.1/callback"],
              grant_types: ["authorization_code", "refresh_token", "client_credentials"],
              scope: [...scopes, "offline_access"].join(" "),
            },
          ],
    scopes: ["offline_access", ...scopes],
    cookies: { keys: [randomBytes(16).toString("hex")] },
    pkce: { required: () => true },
    clientDefaults: { token_endpoint_auth_method: "client_secret_basic" },
    findAccount: (_, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    issueRefreshToken: async (_, client) => client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: !options["keep-refresh"],
    ttl: {
      AccessToken: accessTokenSeconds,
      ClientCredentials: accessTokenSeconds,
      RefreshToken: 86_400,
      Grant: 86_400,
      Session: 86_400,
      Interaction: 600,
    },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: !options["no-registration"] },
      revocation: { enabled: true },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, indicator) => {
          if (indicator !== resource) throw new errors.InvalidTarget();
          return {
            scope: scopes.join(" "),
            audience: resource,
            accessTokenTTL: accessTokenSeconds,
            accessTokenFormat: "opaque",
          };
        },
      },
    },
  });
  provider.on("registration_create.success", () => {
    counts.registrations += 1;
  });
  provider.on("authorization.success", () => {
    counts.authorizations += 1;
  });
  provider.on("grant.success", (context) => {
    const grant = String(context.oidc.params?.grant_type);
    counts.grants[grant] = (counts.grants[grant] ?? 0) + 1;
  });
  for (const event of ["server_error", "grant.error", "registration_create.error", "authorization.error"]) {
    provider.on(event, (_, error) => console.error(event, error));
  }
  return provider;
}

/**
 * Signs in and consents, or denies consent, without user interaction.
 *
 * @param {Provider} provider
 * @param {IncomingMessage} request
 * @param {ServerResponse} response
 */
async function interact(provider, request, response) {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  if (options.deny) {
    const refused = { error: "access_denied", error_description: "the person said no" };
    return await provider.interactionFinished(request, response, refused, { mergeWithLastSubmission: false });
  }
  if (prompt.name === "login") {
    return await provider.interactionFinished(request, response, { login: { accountId: "ada" } });
  }
  const grant =
    (grantId === undefined ? undefined : await provider.Grant.find(grantId)) ??
    new provider.Grant({ accountId: session?.accountId, clientId: String(params.client_id) });
  grant.addOIDCScope(String(params.scope ?? ""));
  for (const [indicator, missing] of Object.entries(prompt.details.missingResourceScopes ?? {})) {
    grant.addResourceScope(indicator, missing.join(" "));
  }
  await provider.interactionFinished(
    request,
    response,
    { consent: { grantId: await grant.save() } },
    { mergeWithLastSubmission: true },
  );
}

/**
 * Checks whether a request to /mcp is allowed; if not, responds as the MCP specification requires.
 *
 * @param {IncomingMessage} request
 * @param {ServerResponse} response
 * @param {any} body
 */
async function admit(request, response, body) {
  const origin = originOf(request);
  const metadata = options["no-metadata"] ? "" : `, resource_metadata="${origin}${metadataPath}"`;
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
  const issued = token === undefined ? undefined : await tokenOf(providerOf(request), token);
  const isGood = issued !== undefined && [issued.aud].flat().includes(`${origin}${mcpPath}`);
  if (!isGood) {
    counts.unauthorized += 1;
    const error = token === undefined ? "" : ', error="invalid_token"';
    response.setHeader("www-authenticate", `Bearer realm="mcp"${error}${metadata}, scope="${BASE_SCOPE}"`);
    sendRpcError(response, 401, { code: -32001, message: "Unauthorized" });
    return false;
  }
  const isGuarded = body?.method === "tools/call" && guardedTool !== undefined && body.params?.name === guardedTool;
  if (isGuarded && !issued.scopes.has(guardScope ?? "")) {
    response.setHeader("www-authenticate", `Bearer error="insufficient_scope", scope="${guardScope}"${metadata}`);
    sendRpcError(response, 403, { code: -32001, message: "Forbidden" });
    return false;
  }
  return true;
}

/**
 * @param {Provider} provider
 * @param {string} token
 */
async function tokenOf(provider, token) {
  return (await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token));
}

/**
 * Handles test-only endpoints.
 *
 * @param {IncomingMessage} request
 * @param {ServerResponse} response
 */
function answerTest(request, response) {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  const forget = (/** @type {string[]} */ names) => {
    for (const key of kept.keys()) if (names.some((name) => key.startsWith(`${name}:`))) kept.delete(key);
  };
  if (pathname === "/test/counts") return sendJson(response, 200, counts);
  if (pathname === "/test/expire") forget(["AccessToken", "ClientCredentials"]);
  else if (pathname === "/test/revoke") forget(["AccessToken", "ClientCredentials", "RefreshToken", "Grant"]);
  else if (pathname === "/test/forget") forget(["AccessToken", "RefreshToken", "Grant", "Client"]);
  else if (pathname === "/test/fail-tokens") failingTokenRequests = Number(searchParams.get("times") ?? "1");
  else return sendJson(response, 404, {});
  sendJson(response, 200, {});
}

/** @type {Provider | undefined} created at the first request, because its URL contains the port */
let provider;

/** @param {IncomingMessage} request */
function originOf(request) {
  return `http://${options.host}:${request.socket.localPort}`;
}

/** @param {IncomingMessage} request */
function providerOf(request) {
  provider ??= createProvider(originOf(request));
  return provider;
}

const build = () => createToolServer("hello", [hello, repeat]);
const mcp = streamableHttp({
  build,
  buildForConnection: build,
  legacy: true,
  bus: new InMemoryServerEventBus(),
  admit,
});

const sse = sseSessions(build);

await listen(options, mcpPath, async (request, response) => {
  const path = pathOf(request);
  const origin = originOf(request);
  if (path.startsWith("/test/")) return answerTest(request, response);
  if (options.sse && (path === "/sse" || path === "/messages")) {
    if (await admit(request, response, undefined)) await sse(request, response);
    return;
  }
  if (path === "/mcp") return await mcp(request, response);
  if (path.startsWith("/.well-known/oauth-protected-resource")) {
    if (options["no-metadata"]) return void response.writeHead(404).end();
    return sendJson(response, 200, {
      resource: `${origin}${mcpPath}`,
      authorization_servers: [origin],
      scopes_supported: [BASE_SCOPE],
    });
  }
  if (path.startsWith("/interaction/")) return await interact(providerOf(request), request, response);
  if (path === "/token" && failingTokenRequests > 0) {
    failingTokenRequests -= 1;
    return sendJson(response, 503, { error: "temporarily_unavailable" });
  }
  if (path === "/token/revocation") counts.revocations += 1;
  await providerOf(request).callback()(request, response);
});
