// A server decides where its sign-in happens. It must not get a client's secret sent to a place of its choice, nor use
// the sign-in to reach addresses that only this machine can reach.
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { silentLogger } from "@trunkline/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { MemoryCredentials } from "../../packages/client/src/auth/credentials.js";
import { listenOnLoopback } from "../../packages/client/src/auth/loopback.js";
import { ServerAuth } from "../../packages/client/src/auth/server-auth.js";
import type { SignIn } from "../../packages/client/src/channel/channel.js";
import type { AuthSettings, HttpServer } from "../../packages/config/src/loaded-config.js";
import { Place } from "../e2e/command.js";

interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly json?: unknown;
}

/** An HTTP server on this machine that records its requests. */
async function listen(answer: (path: string, origin: string) => Answer) {
  const requests: { path: string; headers: IncomingMessage["headers"]; body: string }[] = [];
  let origin = "";
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    requests.push({ path: request.url ?? "", headers: request.headers, body });
    const { status = 200, headers = {}, json = {} } = answer(request.url ?? "", origin);
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(json));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, requests };
}

/** The metadata of an authorization server. */
function metadata(issuer: string, endpoints: Record<string, string> = {}) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
    ...endpoints,
  };
}

/** An authorization server that grants everything; also serves the resource's metadata. */
function granting(endpoints: (origin: string) => Record<string, string> = () => ({})) {
  return listen((path, origin) => {
    if (path.startsWith("/.well-known/oauth-authorization-server"))
      return { json: metadata(origin, endpoints(origin)) };
    if (path.startsWith("/prm")) return { json: { resource: SERVER_URL, authorization_servers: [origin] } };
    if (path === "/token") return { json: { access_token: "an-access-token", token_type: "Bearer" } };
    if (path === "/register")
      return { status: 201, json: { client_id: "new", redirect_uris: ["http://127.0.0.1/callback"] } };
    return { status: 404 };
  });
}

const SERVER_URL = "https://mcp.public.test/mcp";
const MACHINE = { grant: "client_credentials", clientId: "me", clientSecret: "machine-secret" } as const;

interface Setting {
  readonly url?: string;
  readonly auth?: AuthSettings;
  /** The addresses of host names. */
  readonly hosts?: Record<string, string | readonly string[]>;
  readonly resolveHost?: (host: string) => Promise<string[]>;
}

function serverAuth({ url = SERVER_URL, auth, hosts = {}, resolveHost }: Setting): ServerAuth {
  const definition = {
    ...{
      type: "http",
      name: "docs",
      url,
      headers: { "X-Own": "own-header" },
      scope: "user",
      dialect: "servers",
      file: "",
    },
    ...{ disabled: false, lazy: false, trusted: true, connectTimeoutMs: 1000, callTimeoutMs: 1000 },
    ...(auth === undefined ? {} : { auth }),
  } as HttpServer;
  const known: Record<string, string | readonly string[]> = { "mcp.public.test": "93.184.216.34", ...hosts };
  return new ServerAuth(definition, {
    credentials: new MemoryCredentials(),
    signInTimeoutMs: 60_000,
    clientName: "test",
    logger: silentLogger,
    onSecrets: () => {},
    resolveHost: resolveHost ?? (async (host) => [known[host] ?? []].flat()),
  });
}

/** The header of the server's answer that starts a sign-in. */
function challenge(resourceMetadata: string): string {
  return `Bearer resource_metadata="${resourceMetadata}"`;
}

/** Asks a person, who visits the page and then cancels. */
function visiting(visited: string[]): SignIn {
  return async ({ url }) => {
    visited.push(url);
    return "cancelled";
  };
}

/** The refusal of a server's sign-in, by a machine or a person. */
async function refusalOf(auth: ServerAuth, resourceMetadata: string, visited: string[] = []): Promise<unknown> {
  const ask = visiting(visited);
  try {
    const refusal = { challenge: challenge(resourceMetadata), token: undefined };
    if (await auth.onRefused(refusal)) return undefined;
  } catch (error) {
    if (!auth.isInteractive(ask)) return error;
  }
  return await auth.signIn(AbortSignal.timeout(60_000), ask).then(
    () => undefined,
    (refused: unknown) => refused,
  );
}

describe("client credentials", () => {
  it("are refused if the entry does not name their issuer", async () => {
    const { origin, requests } = await granting();
    const auth = serverAuth({ url: `${origin}/mcp`, auth: MACHINE });
    expect(await refusalOf(auth, `${origin}/prm`)).toMatchObject({
      code: "CONFIG_INVALID",
      hint: expect.stringContaining('"issuer"'),
    });
    expect(requests).toEqual([]);
  });

  it.each(["", " "])("are refused if the issuer is %j", async (issuer) => {
    const { origin, requests } = await granting();
    const auth = serverAuth({ url: `${origin}/mcp`, auth: { ...MACHINE, issuer } });
    expect(await refusalOf(auth, `${origin}/prm`)).toMatchObject({ code: "CONFIG_INVALID" });
    expect(requests).toEqual([]);
  });

  it("are reported when the configuration is read, with the field to set", async () => {
    const auth = { type: "client_credentials", client_id: "me", client_secret: "machine-secret" };
    using place = new Place({ "mcp.json": { mcpServers: { docs: { url: "http://127.0.0.1:1/mcp", auth } } } });
    const outcome = await place.run(["doctor", "--mcp", "mcp.json"]);
    expect(outcome.stdout).toContain('client credentials need "issuer"');
    expect(outcome.stdout).not.toContain("machine-secret");
  });

  it("are not sent to an issuer that the entry does not name", async () => {
    const evil = await granting();
    const auth = serverAuth({ url: `${evil.origin}/mcp`, auth: { ...MACHINE, issuer: "https://login.public.test" } });
    expect(await refusalOf(auth, `${evil.origin}/prm`)).toMatchObject({ code: "PROTOCOL" });
    expect(JSON.stringify(evil.requests)).not.toContain("machine-secret");
    expect(evil.requests.map(({ path }) => path)).not.toContain("/token");
  });

  it("are not sent to a server that calls itself by the issuer's name", async () => {
    const issuer = "https://login.public.test";
    const evil = await granting(() => ({ issuer }));
    const auth = serverAuth({ url: `${evil.origin}/mcp`, auth: { ...MACHINE, issuer } });
    expect(await refusalOf(auth, `${evil.origin}/prm`)).toBeDefined();
    expect(JSON.stringify(evil.requests)).not.toContain("machine-secret");
    expect(evil.requests.map(({ path }) => path)).not.toContain("/token");
  });

  it("are sent to the issuer that the entry names, even on a private address", async () => {
    const { origin } = await granting();
    const auth = serverAuth({ auth: { ...MACHINE, issuer: origin } });
    expect(await auth.onRefused({ challenge: challenge(`${origin}/prm`), token: undefined })).toBe(true);
    expect(await auth.token()).toBe("an-access-token");
  });
});

describe("the sign-in of a public server", () => {
  /** Every spelling of an address that the internet does not have. */
  const PRIVATE = [
    "http://127.0.0.1:PORT",
    "http://localhost:PORT",
    "http://[::1]:PORT",
    "http://[::ffff:127.0.0.1]:PORT",
    "http://0x7f.1:PORT",
    "http://2130706433:PORT",
    "http://0.0.0.0:PORT",
    "https://10.0.0.5",
    "https://172.16.0.1",
    "https://192.168.1.1",
    "https://169.254.169.254",
    "http://169.254.169.254",
    "https://100.100.100.200",
    "https://[fe80::1]",
    "https://[fd00:ec2::254]",
    "https://[64:ff9b::a9fe:a9fe]",
    "https://[2002:a9fe:a9fe::]",
    "https://intranet.test",
    "https://mixed.test",
    "http://plain.public.test",
  ];
  const HOSTS = {
    localhost: ["127.0.0.1", "::1"],
    "intranet.test": "10.0.0.7",
    "mixed.test": ["93.184.216.34", "192.168.1.7"],
    "plain.public.test": "93.184.216.35",
  };

  it.each(PRIVATE)("never asks %s for the resource's metadata", async (base) => {
    const { origin, requests } = await granting();
    const url = `${base.replace("PORT", new URL(origin).port)}/prm`;
    for (const auth of [undefined, { ...MACHINE, issuer: "https://login.public.test" }]) {
      const refusal = await refusalOf(serverAuth({ ...(auth === undefined ? {} : { auth }), hosts: HOSTS }), url);
      expect(refusal).toMatchObject({ code: "PROTOCOL", hint: expect.stringContaining("issuer") });
    }
    expect(requests).toEqual([]);
  });

  it("is not moved to this machine by the name of the server itself", async () => {
    const { origin, requests } = await granting();
    // The name resolves to this machine once we ask, but it was public when it was first seen.
    const answers = [["93.184.216.34"], ["127.0.0.1"], ["127.0.0.1"], ["127.0.0.1"]];
    const definition = { name: "docs", type: "http", url: SERVER_URL, headers: {} } as unknown as HttpServer;
    const auth = new ServerAuth(definition, {
      ...{ credentials: new MemoryCredentials(), signInTimeoutMs: 60_000, clientName: "test", logger: silentLogger },
      ...{ onSecrets: () => {}, signIn: async () => "cancelled" as const },
      resolveHost: async () => answers.shift() ?? ["127.0.0.1"],
    });
    for (let attempt = 1; attempt <= 2; attempt++)
      expect(await refusalOf(auth, `${origin}/prm`)).toMatchObject({ code: "PROTOCOL" });
    expect(requests).toEqual([]);
  });
});

describe("the endpoints that an authorization server announces", () => {
  /** A server on this machine, whose authorization server announces endpoints elsewhere. */
  async function refused(endpoints: Record<string, string>) {
    const authServer = await granting(() => endpoints);
    const visited: string[] = [];
    const auth = serverAuth({
      url: `${authServer.origin}/mcp`,
      hosts: { "plain.public.test": "93.184.216.35", "login.public.test": "93.184.216.36" },
    });
    const refusal = await refusalOf(auth, `${authServer.origin}/.well-known/nothing`, visited);
    return { refusal, visited, paths: authServer.requests.map(({ path }) => path) };
  }

  it.each([
    ["authorization_endpoint", "http://plain.public.test/authorize"],
    ["authorization_endpoint", "http://169.254.169.254/latest"],
    ["authorization_endpoint", "https://169.254.169.254/latest"],
    ["token_endpoint", "http://plain.public.test/token"],
    ["token_endpoint", "https://169.254.169.254/token"],
    ["registration_endpoint", "http://plain.public.test/register"],
    ["registration_endpoint", "http://169.254.169.254/register"],
  ])("%s may not be %s", async (name, url) => {
    const { refusal, visited, paths } = await refused({ [name]: url });
    expect(refusal).toMatchObject({ code: "PROTOCOL" });
    expect(visited).toEqual([]);
    expect(paths).not.toContain("/token");
  });

  it.each(["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "vscode://x"])(
    "the page to open may not be %s",
    async (url) => {
      const { refusal, visited } = await refused({ authorization_endpoint: url });
      expect(refusal).toMatchObject({ code: "PROTOCOL" });
      expect(visited).toEqual([]);
    },
  );

  it("the page to open is checked once more before it is opened", async () => {
    const authServer = await granting(() => ({ authorization_endpoint: "https://login.public.test/authorize" }));
    const visited: string[] = [];
    const addresses = ["93.184.216.36"];
    const auth = serverAuth({
      url: `${authServer.origin}/mcp`,
      resolveHost: async () => [addresses.shift() ?? "169.254.169.254"],
    });
    // The host moves after its endpoints were checked.
    await expect(auth.signIn(AbortSignal.timeout(60_000), visiting(visited))).rejects.toMatchObject({
      code: "PROTOCOL",
    });
    expect(addresses).toEqual([]);
    expect(visited).toEqual([]);
  });

  it("may be https on the internet", async () => {
    const { refusal, visited } = await refused({
      authorization_endpoint: "https://login.public.test/authorize",
      token_endpoint: "https://login.public.test/token",
    });
    expect(refusal).toBeUndefined();
    expect(visited[0]).toContain("https://login.public.test/authorize?");
  });
});

describe("the sign-in of a person", () => {
  it("does not happen at an issuer that the entry does not name", async () => {
    const evil = await granting();
    const visited: string[] = [];
    const auth = serverAuth({
      url: `${evil.origin}/mcp`,
      auth: { grant: "authorization_code", issuer: "https://login.public.test" },
    });
    expect(await refusalOf(auth, `${evil.origin}/.well-known/nothing`, visited)).toMatchObject({
      code: "PROTOCOL",
      message: expect.stringContaining("its entry names the issuer https://login.public.test"),
    });
    expect(evil.requests.map(({ path }) => path)).not.toContain("/register");
    expect(visited).toEqual([]);
  });
});

describe("redirects during a sign-in", () => {
  it("do not lead metadata to another origin", async () => {
    const secret = await listen(() => ({ json: metadata("http://127.0.0.1") }));
    const redirecting = await listen(() => ({ status: 302, headers: { location: `${secret.origin}/metadata` } }));
    await refusalOf(serverAuth({ url: `${redirecting.origin}/mcp` }), `${redirecting.origin}/prm`);
    expect(secret.requests).toEqual([]);
  });

  it.each([301, 302, 303, 307, 308])("with status %i do not take a client's secret along", async (status) => {
    const thief = await listen(() => ({ json: { access_token: "x", token_type: "Bearer" } }));
    const authServer = await listen((path, origin) => {
      if (path.startsWith("/.well-known/oauth-authorization-server")) return { json: metadata(origin) };
      if (path === "/token") return { status, headers: { location: `${thief.origin}/token` } };
      return { status: 404 };
    });
    const auth = serverAuth({
      url: `${authServer.origin}/mcp`,
      auth: { ...MACHINE, issuer: authServer.origin },
    });
    expect(await refusalOf(auth, `${authServer.origin}/nothing`)).toBeDefined();
    expect(thief.requests).toEqual([]);
  });

  it("never take the entry's own headers to another origin", async () => {
    const authServer = await granting();
    const server = await listen((path) =>
      path === "/prm"
        ? { json: { resource: `${server.origin}/mcp`, authorization_servers: [authServer.origin] } }
        : { status: 404 },
    );
    await refusalOf(serverAuth({ url: `${server.origin}/mcp` }), `${server.origin}/prm`);
    expect(server.requests[0]?.headers["x-own"]).toBe("own-header");
    expect(authServer.requests.length).toBeGreaterThan(0);
    for (const { headers } of authServer.requests) expect(headers["x-own"]).toBeUndefined();
  });
});

describe("a host name that changes its address", () => {
  it("is connected to at the address that was checked", async () => {
    const { origin, requests } = await granting();
    const { port } = new URL(origin);
    const asked: string[] = [];
    const definition = { name: "docs", type: "http", url: `${origin}/mcp`, headers: {} } as unknown as HttpServer;
    const auth = new ServerAuth(definition, {
      ...{ credentials: new MemoryCredentials(), signInTimeoutMs: 60_000, clientName: "test", logger: silentLogger },
      ...{ onSecrets: () => {}, signIn: async () => "cancelled" as const },
      resolveHost: async (host) => {
        asked.push(host);
        return ["127.0.0.1"];
      },
    });
    await refusalOf(auth, `http://rebinding.test:${port}/prm`);
    // The name does not exist: only the address that was checked can have been used.
    expect(requests[0]).toMatchObject({ path: "/prm", headers: { host: `rebinding.test:${port}` } });
    expect(asked.filter((host) => host === "rebinding.test")).toHaveLength(1);
  });
});

describe("an authorization server that answers too much", () => {
  it("is cut off", async () => {
    const { origin } = await listen(() => ({ json: { padding: "x".repeat(3_000_000) } }));
    expect(await refusalOf(serverAuth({ url: `${origin}/mcp` }), `${origin}/prm`)).toMatchObject({ code: "PROTOCOL" });
  });
});

describe("the listener that waits for the browser", () => {
  /** Sends a request line as it is: no client library would. */
  async function statusOf(port: string, target: string): Promise<string> {
    const socket = connect(Number(port), "127.0.0.1");
    socket.end(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
    let answer = "";
    for await (const part of socket.setEncoding("latin1")) answer += part;
    return answer.split(" ")[1] ?? "";
  }

  it("survives requests of any page, and goes on waiting", async () => {
    const redirects: string[] = [];
    await using loopback = await listenOnLoopback({ onRedirect: (params) => redirects.push(String(params)) > 0 });
    const { port } = new URL(loopback.redirectUri);
    for (const target of ["//[", "http://[", "http://%00/", "*", "/nothing", "//evil.example/"])
      expect(await statusOf(port, target)).toBe("404");
    expect(redirects).toEqual([]);
    expect(await statusOf(port, "/callback?code=1")).toBe("200");
    expect(redirects).toEqual(["code=1"]);
  });
});
