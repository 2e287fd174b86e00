// Plants a secret everywhere one can be, runs every command, and checks that no output contains a secret.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort, Place, root } from "./command.js";

const secrets = {
  url: "url-secret-4f1c/with+signs",
  args: 'args secret "quoted" 77aa',
  env: "env-secret-é-09bd",
  header: "header-secret-5c2e",
  envFile: "envfile-secret-3d8a",
  dotEnv: "dotenv-secret-b7e0",
};

const node = process.execPath;
/** Writes everything it was given to stderr, in several encodings, and exits. */
const teller = `
  const all = [...process.argv.slice(1), process.env.KEY, process.env.FROM_FILE];
  for (const value of all) {
    console.error(value, JSON.stringify({ value }), encodeURIComponent(value), Buffer.from("user:" + value).toString("base64"));
  }
  process.exit(1);`;
/** Answers initialize with a JSON-RPC error that repeats what it was given. */
const refuser = `
  process.stdin.on("data", (chunk) => {
    for (const line of String(chunk).split("\\n").filter(Boolean)) {
      const { id } = JSON.parse(line);
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32603, message: "no access with " + process.env.KEY } }));
    }
  });`;

/** Returns every form in which a value must not appear. */
function forms(secret: string): string[] {
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString("base64").replace(/=+$/, "").slice(0, -1),
  ];
}

let place: Place;
let web: ReturnType<typeof createServer>;

beforeAll(async () => {
  // Rejects everything, and repeats the request's credentials in its answer.
  web = createServer((request, response) => {
    response.writeHead(request.url?.startsWith("/401") ? 401 : 500, { "content-type": "text/plain" });
    response.end(`denied: ${request.url} ${request.headers.authorization}`);
  });
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
  place = new Place(
    {
      ".env": `URL_SECRET=${secrets.url}\nDOT_ENV=${secrets.dotEnv}\nARGS_SECRET='${secrets.args}'\n`,
      "server.env": `FROM_FILE=${secrets.envFile}\n`,
      ".trunkline/mcp.json": {
        mcpServers: {
          stderr: {
            command: node,
            args: ["-e", teller, "${ARGS_SECRET}", "${DOT_ENV}"],
            env: { KEY: secrets.env },
            envFile: "server.env",
          },
          error: { command: node, args: ["-e", refuser], env: { KEY: secrets.env } },
          http: { url: `${base}/mcp?token=\${URL_SECRET}`, headers: { Authorization: `Bearer ${secrets.header}` } },
          unauthorized: {
            url: `${base}/401?token=\${URL_SECRET}`,
            headers: { Authorization: `Bearer ${secrets.header}` },
          },
          refused: { url: `http://127.0.0.1:${await freePort()}/\${URL_SECRET}`, headers: { "X-Key": secrets.header } },
          hello: {
            command: node,
            args: [`${root}/test/servers/hello.js`],
            env: { KEY: secrets.env, OTHER: "${DOT_ENV}" },
          },
        },
      },
    },
    { TRUNKLINE_TRUST: "all", TRUNKLINE_LOG_LEVEL: "debug" },
  );
});

afterAll(() => {
  web.close();
  place[Symbol.dispose]();
});

describe("no secret is printed by", () => {
  it.each([
    [["doctor"]],
    [["doctor", "--format", "json"]],
    [["doctor", "--format", "json", "--pretty", "--strict"]],
    [["tools"]],
    [["tools", "--json"]],
    [["tools", "--tokens"]],
    [["call", "stderr.x"]],
    [["call", "error.x"]],
    [["call", "http.x"]],
    [["call", "unauthorized.x"]],
    [["call", "refused.x"]],
    [["call", "hello.helo"]],
    [["servers", "list"]],
    [["servers", "list", "--json"]],
    [["trust", "--yes"]],
    [["trust", "--list"]],
    [["import"]],
    [["import", "all", "--from", ".trunkline/mcp.json", "--dry-run", "--user"]],
    [["servers", "disable", "refused"]],
    [["servers", "enable", "refused"]],
  ])("trunkline %j", async (args) => {
    for (const format of ["text", "json"]) {
      const { stdout, stderr, code } = await place.run(args, { env: { TRUNKLINE_LOG_FORMAT: format } });
      expect(code).toBeLessThan(4);
      for (const [where, secret] of Object.entries(secrets)) {
        for (const form of forms(secret)) {
          expect(stdout + stderr, `the secret of ${where} as ${form}`).not.toContain(form);
        }
      }
    }
  });

  it("a run that would otherwise show them", async () => {
    // Guards the tests above: these outputs do contain the places where the secrets would be.
    const { stdout } = await place.run(["doctor"]);
    for (const name of ["stderr", "error", "http", "unauthorized", "refused"])
      expect(stdout).toMatch(new RegExp(`✗ ${name} `));
    expect(stdout.match(/<redacted>/g)?.length).toBeGreaterThan(5);
  });
});
