// The client under test. The suite starts it once per scenario, with its server's URL as the last argument and the
// scenario in the environment. Everything goes through the hub, as in a program that uses the library.
// biome-ignore lint/correctness/noUndeclaredDependencies: the workspace's own, found in the folder above
import { createChannel, openHub } from "@trunkline/client";
// biome-ignore lint/correctness/noUndeclaredDependencies: the workspace's own, found in the folder above
import { isTrunklineError } from "@trunkline/core";
import { exampleOf } from "./example-arguments.js";

/** @import { HttpServer, Hub, LoadedConfig, SignIn } from "@trunkline/client" */
/** @typedef {Readonly<Record<string, unknown>>} Context The suite's information about a scenario. */
/** @typedef {(hub: Hub, context: Context) => Promise<void>} Scenario What to do once the hub is open. */

const SERVER = "suite";

/** The only URL the suite accepts; it is never fetched. */
const CLIENT_METADATA_URL = "https://conformance-test.local/client-metadata.json";

/** The suite gives up after 30 s, but kills only the shell around this process. */
const LIMIT_MS = 25_000;

/**
 * Scenarios that need more than calling every tool.
 * @type {Readonly<Record<string, Scenario>>}
 */
const SCENARIOS = {
  "http-custom-headers": callAsTold,
  "json-schema-2020-12-preservation": echoSchema,
};

/**
 * Calls every tool once, with arguments generated from its schema. A failing tool does not stop the others.
 * @type {Scenario}
 */
async function callEveryTool(hub) {
  const failures = [];
  for (const { server, tool, inputSchema } of hub.tools()) {
    const call = () => hub.callTool(server, tool, exampleOf(inputSchema));
    try {
      await call().catch(async (error) => {
        // In a running session the hub does not start a sign-in by itself; it only offers one.
        if (hub.status()[0]?.state !== "needs-auth") throw error;
        await hub.authenticate(SERVER);
        await call();
      });
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/**
 * Makes the calls that the suite lists.
 * @type {Scenario}
 */
async function callAsTold(hub, context) {
  const calls = /** @type {{ name: string, arguments: Record<string, unknown> }[]} */ (context.toolCalls ?? []);
  for (const call of calls) await hub.callTool(SERVER, call.name, call.arguments);
}

/**
 * Sends the schema of one tool, as the hub sees it, to the other tool.
 * @type {Scenario}
 */
async function echoSchema(hub) {
  const focal = hub.tools().find(({ tool }) => tool === "json_schema_2020_12_tool");
  await hub.callTool(SERVER, "json_schema_echo", { schema: focal?.inputSchema });
}

/**
 * Signs in without a person: the suite's authorization server asks nothing and redirects immediately.
 * @type {SignIn}
 */
async function signIn({ url }) {
  const response = await fetch(url, { redirect: "manual" });
  const location = response.headers.get("location");
  if (location === null) throw new Error(`the authorization server answered ${response.status} without a redirect`);
  await fetch(new URL(location, url));
  return "completed";
}

/** Agrees to everything and fills in nothing, so forms return only their defaults. */
const channel = createChannel({
  elicit: async () => ({ action: "accept", content: {} }),
  sample: async () => ({ role: "assistant", model: "none", content: { type: "text", text: "as you like" } }),
});

/**
 * Looks up the server's issuer, which the suite does not give. A user takes it from whoever issued the credentials.
 * @param {string} url
 */
async function issuerOf(url) {
  const { origin, pathname } = new URL(url);
  for (const path of [pathname, ""]) {
    const response = await fetch(`${origin}/.well-known/oauth-protected-resource${path}`);
    if (!response.ok) continue;
    const { authorization_servers: servers } = /** @type {{ authorization_servers: string[] }} */ (
      await response.json()
    );
    return String(servers[0]);
  }
  return origin;
}

/**
 * Returns the `auth` settings of an entry, if the suite has registered a client itself.
 * @param {string} scenario
 * @param {Context} context
 * @param {string} url
 * @returns {Promise<HttpServer["auth"]>}
 */
async function authFor(scenario, context, url) {
  const { client_id: clientId, client_secret: clientSecret, private_key_pem: privateKey } = context;
  if (typeof clientId !== "string") return undefined;
  return {
    ...(scenario.startsWith("auth/client-credentials")
      ? { grant: "client_credentials", issuer: await issuerOf(url) }
      : { grant: "authorization_code" }),
    clientId,
    ...(typeof clientSecret === "string" ? { clientSecret } : {}),
    ...(typeof privateKey === "string" ? { privateKey } : {}),
    ...(typeof context.signing_algorithm === "string" ? { algorithm: context.signing_algorithm } : {}),
  };
}

/**
 * Builds the configuration that a file with only this server would produce. The server does not come from a project, so
 * it needs no approval.
 * @param {string} url
 * @param {HttpServer["auth"]} auth
 * @returns {LoadedConfig}
 */
function configFor(url, auth) {
  return {
    path: "",
    exists: true,
    files: [],
    workspaceFolder: process.cwd(),
    servers: [
      {
        type: "http",
        name: SERVER,
        url,
        headers: {},
        ...(auth === undefined ? {} : { auth }),
        scope: "explicit",
        dialect: "servers",
        file: "",
        disabled: false,
        lazy: false,
        trusted: true,
        connectTimeoutMs: 15_000,
        callTimeoutMs: 10_000,
      },
    ],
    rejected: [],
    diagnostics: [],
    secrets: [],
  };
}

/** @param {string} url */
async function run(url) {
  const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
  /** @type {Context} */
  const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
  const hub = await openHub(configFor(url, await authFor(scenario, context, url)), {
    signIn,
    clientMetadataUrl: CLIENT_METADATA_URL,
    channel,
  });
  try {
    const failure = hub.status()[0]?.error;
    if (failure !== undefined) throw failure;
    await (SCENARIOS[scenario] ?? callEveryTool)(hub, context);
  } finally {
    await hub.close();
  }
}

setTimeout(() => {
  console.error(`ended: not within ${LIMIT_MS} ms`);
  process.exit(1);
}, LIMIT_MS).unref();

const url = process.argv.at(-1) ?? "";
try {
  await run(url);
  console.error("ended: in order");
} catch (error) {
  // Some scenarios expect a rejection, so this is not a failure yet: the suite's checks decide.
  if (!isTrunklineError(error)) throw error;
  console.error(`ended: ${error.code}: ${error.message}`);
  process.exitCode = 1;
}
