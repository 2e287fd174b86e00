// Secrets that are written out in a server's URL or arguments must not reach a screen, a log or a model.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { redactedArgs, redactedUrl } from "@trunkline/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Outcome, Place } from "../e2e/command.js";

const PASSWORD = "corr3ct-horse";
const PARTS = {
  userInfo: PASSWORD,
  short: "pw1",
  query: "query-hunter2",
  segment: "Zk39aQ1LmX82pQw7uT5v",
  flag: "flag-hunter2",
  pair: "pair-hunter2",
  token: "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
  header: "header-hunter2",
  database: "db-hunter2",
};

let port = 0;
/** A port on which nothing listens. */
beforeAll(async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
  await new Promise((resolve) => server.close(resolve));
});

/** Servers that all fail, each in its own way, and name their secrets while failing. */
function servers() {
  const node = (code: string, ...args: string[]) => ({ command: process.execPath, args: ["-e", code, ...args] });
  const secretArgs = [
    `--api-key=${PARTS.flag}`,
    "-H",
    `Authorization: Bearer ${PARTS.header}`,
    PARTS.token,
    `postgres://ann:${PARTS.database}@db.example/main`,
  ];
  return {
    userinfo: { url: `http://ann:${PARTS.userInfo}@127.0.0.1:${port}/mcp` },
    short: { url: `http://ann:${PARTS.short}@127.0.0.1:${port}/mcp` },
    query: { url: `http://127.0.0.1:${port}/mcp?api_key=${PARTS.query}&read_only=true` },
    segment: { url: `http://127.0.0.1:${port}/s/${PARTS.segment}/mcp` },
    exits: node("console.error(process.argv.slice(1).join(' ')); process.exit(3)", ...secretArgs),
    missing: { command: "no-such-program-x", args: ["--password", PARTS.pair, ...secretArgs] },
    unreadable: { url: `htp://ann:${PARTS.userInfo}@host/mcp` },
  };
}

function expectClean({ stdout, stderr }: Outcome): void {
  for (const secret of Object.values(PARTS)) {
    const base64 = Buffer.from(secret).toString("base64").slice(0, -3);
    for (const form of [secret, encodeURIComponent(secret), ...(secret.length < 6 ? [] : [base64])])
      expect(`${stdout}\n${stderr}`).not.toContain(form);
  }
}

describe("secrets written out in URLs and arguments", () => {
  let place: Place;
  beforeAll(() => {
    place = new Place({ "mcp.json": { mcpServers: servers() } });
  });
  afterAll(() => place[Symbol.dispose]());
  const run = (...args: string[]) =>
    place.run([...args, "--mcp", "mcp.json"], { env: { TRUNKLINE_LOG_LEVEL: "debug" } });

  it("are not in the output of doctor", async () => {
    const outcome = await run("doctor");
    expectClean(outcome);
    expect(outcome.stdout).toContain(`http://<redacted>@127.0.0.1:${port}/mcp`);
    expect(outcome.stdout).toContain("api_key=<redacted>&read_only=true");
    expect(outcome.stdout).toContain("--api-key=<redacted>");
    expect(outcome.stdout).toContain("<redacted>@db.example/main");
  });

  it("are not in the output of doctor --format json", async () => {
    expectClean(await run("doctor", "--format", "json"));
  });

  it("are not in the output of servers list", async () => {
    const outcome = await run("servers", "list");
    expectClean(outcome);
    expect(outcome.stdout).toContain(`http://<redacted>@127.0.0.1:${port}/mcp`);
    expectClean(await run("servers", "list", "--json"));
  });

  it.each(["userinfo", "short", "query", "segment", "exits", "missing"])(
    "are not in the errors of a call to %s",
    async (name) => {
      const outcome = await run("call", `${name}.x`);
      expect(outcome.code).not.toBe(0);
      expectClean(outcome);
      if (name === "query") expect(outcome.stderr).toContain(`http://127.0.0.1:${port}/`);
    },
  );

  it("are not in what a model is told", async () => {
    expectClean(await run("query", "describe"));
    for (const name of Object.keys(servers())) expectClean(await run("execute", `${name}.x`));
    expectClean(await run("tools"));
  });

  it("are not in the answer of auth status", async () => {
    expectClean(await run("auth", "status"));
    expectClean(await run("auth", "status", "--json"));
  });

  it("are not shown by servers add", async () => {
    expectClean(await place.run(["servers", "add", "x", `htp://ann:${PARTS.userInfo}@host/mcp?key=${PARTS.query}`]));
    expectClean(await place.run(["servers", "add", "x y", `http://ann:${PARTS.userInfo}@host/mcp`]));
    expectClean(await place.run(["servers", "add", "x", `ann:${PARTS.userInfo}@x.example/mcp`]));
  });

  it("are shown by import only in arguments, which can be programs", async () => {
    const { stdout, stderr } = await place.run(["import", "--from", "mcp.json", "--dry-run", "--user"]);
    for (const secret of [PARTS.userInfo, PARTS.short, PARTS.query, PARTS.segment])
      expect(stdout + stderr).not.toContain(secret);
    expect(stdout).toContain(`--api-key=${PARTS.flag}`);
  });

  it("are not shown by install", async () => {
    place.write(".mcp.json", {
      mcpServers: { trunkline: { command: "trunkline", args: ["serve", ...servers().exits.args.slice(2)] } },
    });
    const outcome = await place.run(["install", "claude-code", "--project", "--dry-run"]);
    expectClean(outcome);
    expect(outcome.stdout).toContain("- ");
  });
});

describe("secrets in an unusual shape", () => {
  it.each([
    ["capital letters and digits", "MFRGGZDFMZTWQ2LKNNWG23TPOA"],
    ["small letters and few digits", "qzk7hvnwtbx3rjplmdg9scfy"],
    ["small letters only", "xkqzvbnmwrtplkjhgfdszxcvbnmqwrtp"],
    ["digits only", "90817263544536271809918273645546"],
  ])("are hidden in a path and in an argument: %s", (_, secret) => {
    expect(redactedUrl(`https://mcp.example.com/s/${secret}/mcp`)).toBe("https://mcp.example.com/s/<redacted>/mcp");
    expect(redactedArgs(["--id", secret])).toEqual(["--id", "<redacted>"]);
  });

  it("are hidden up to their end", () => {
    expect(redactedArgs(["Server=db;User Id=sa;Password=two words;Encrypt=true"])).toEqual([
      "Server=db;User Id=sa;Password=<redacted>;Encrypt=true",
    ]);
    expect(redactedArgs(["--token", "-aB3xyz", "--verbose"])).toEqual(["--token", "<redacted>", "--verbose"]);
    expect(redactedUrl("https:ann:hunter2@mcp.example.com/mcp")).toBe("https:<redacted>@mcp.example.com/mcp");
  });

  it("are not seen in ordinary words", () => {
    const url =
      "https://mcp.example.com/v1/projects/internationalization-guidelines/modelcontextprotocol2025server/mcp";
    expect(redactedUrl(url)).toBe(url);
    const args = ["--token", "--read-only", "-v", "@modelcontextprotocol/server-sequential-thinking", "Mode=a;Level=b"];
    expect(redactedArgs(args)).toEqual(args);
  });
});

describe("a URL built from a variable", () => {
  it.each([
    ["the whole URL", "${MCP_URL}", { MCP_URL: `http://127.0.0.2:1/mcp?api_key=${PARTS.query}` }],
    ["the host", `http://\${MCP_HOST}/mcp?api_key=\${MCP_KEY}`, { MCP_HOST: "127.0.0.2:1", MCP_KEY: PARTS.query }],
    ["host and path", "http://${MCP_REST}", { MCP_REST: `127.0.0.2:1/s/${PARTS.segment}/mcp` }],
    ["its password", "http://ann:${MCP_PASS}@127.0.0.2:1/mcp", { MCP_PASS: PARTS.userInfo }],
  ])("shows its host if the variable is %s", async (_, url, env) => {
    using place = new Place({ "mcp.json": { mcpServers: { x: { url } } } });
    for (const args of [
      ["doctor"],
      ["doctor", "--format", "json"],
      ["servers", "list"],
      ["servers", "list", "--json"],
      ["call", "x.y"],
    ]) {
      const outcome = await place.run([...args, "--mcp", "mcp.json"], { env });
      expectClean(outcome);
      expect(outcome.stdout + outcome.stderr).toContain("127.0.0.2:1");
    }
  });

  it("shows its host even if the same variable is in a header or an environment", async () => {
    const env = { MCP_URL: `https://nowhere.invalid/mcp?api_key=${PARTS.query}` };
    using place = new Place({
      "mcp.json": {
        mcpServers: {
          x: { url: "${MCP_URL}", headers: { Origin: "${MCP_URL}" } },
          y: { command: "no-such-program-x", args: ["--url", "${MCP_URL}"], env: { URL: "${MCP_URL}" } },
        },
      },
    });
    const outcome = await place.run(["servers", "list", "--mcp", "mcp.json"], { env });
    expectClean(outcome);
    expect(outcome.stdout.match(/https:\/\/nowhere\.invalid\//g)).toHaveLength(2);
  });
});

describe("a secret that a server repeats on stderr", () => {
  /** Starts a server that writes this with its environment, then exits. */
  async function said(code: string): Promise<string> {
    using place = new Place({
      "mcp.json": {
        mcpServers: {
          x: { command: process.execPath, args: ["-e", `${code}; process.exitCode = 3`], env: { KEY: PEM } },
        },
      },
    });
    const outcome = await place.run(["doctor", "--mcp", "mcp.json"], { env: { TRUNKLINE_LOG_LEVEL: "debug" } });
    const asJson = await place.run(["doctor", "--format", "json", "--mcp", "mcp.json"]);
    return `${outcome.stdout}${outcome.stderr}${asJson.stdout}`;
  }
  const BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIB";
  const PEM = `-----BEGIN PRIVATE KEY-----\n${BODY}\n-----END PRIVATE KEY-----\n`;

  it.each([
    ["line by line", "console.error(process.env.KEY)"],
    ["in pieces", "for (const char of process.env.KEY) process.stderr.write(char)"],
    ["in hexadecimal digits", "console.error(Buffer.from(process.env.KEY).toString('hex'))"],
    ["in base64", "console.error(Buffer.from('x:' + process.env.KEY).toString('base64'))"],
    ["as JSON", "console.error(JSON.stringify({ key: process.env.KEY }))"],
    ["at the end of a long line", `console.error('error: ' + 'x '.repeat(990) + process.env.KEY.split('\\n')[1])`],
    ["in an exception", "throw new Error('bad key ' + process.env.KEY)"],
  ])("is hidden %s", async (_, code) => {
    const shown = await said(code);
    expect(shown).toContain("SERVER_EXITED");
    for (const form of [
      BODY.slice(0, 12),
      Buffer.from(BODY).toString("hex").slice(0, 24),
      Buffer.from(BODY).toString("base64").slice(4, 20),
    ])
      expect(shown).not.toContain(form);
  });
});
