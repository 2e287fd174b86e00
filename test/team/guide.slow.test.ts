// The commands of docs/guides/team.md that need a database, on a real one. Those with containers are not run.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startPostgres } from "../../packages/store-postgres/test/support/postgres-cluster.js";
import { blocksOf, readPage } from "../docs/pages.js";
import { bin, Place, root } from "../e2e/command.js";
import { freePort, GatewayProcess, TOKEN, teamPlace } from "./gateway-process.js";
import { binaries, hasPostgres, needsPostgres, operation } from "./team.js";
import { TeamClient } from "./team-client.js";

const PAGE = readPage("docs/guides/team.md");
const ADDRESS = "postgres://trunkline@db.example.com/trunkline";

/** The lines of the blocks that name the database, in order. */
const lines = blocksOf(PAGE)
  .filter(({ language }) => language === "sh")
  .flatMap(({ text }) => text.split("\n").filter((line) => line.includes(ADDRESS)));
const commands = (start: string) => lines.filter((line) => line.startsWith(start));

describe.skipIf(!hasPostgres)(`the guide for teams${needsPostgres}`, () => {
  it("creates a store, copies one into it, verifies, backs up and restores", async () => {
    await using cluster = await startPostgres(binaries ?? "");
    const url = cluster.createDatabase();
    using place = new Place({ "notes.md": "# Pelicans\n\nfish in pairs\n" });
    expect(await place.run(["store", "add", "notes.md"])).toMatchObject({ code: 0 });
    const programs = join(place.base, "bin");
    mkdirSync(programs);
    writeFileSync(join(programs, "trunkline"), `#!/bin/sh\nexec "${process.execPath}" "${bin}" "$@"\n`);
    chmodSync(join(programs, "trunkline"), 0o755);
    const env = {
      PATH: [programs, binaries, process.env.PATH].join(":"),
      HOME: place.home,
      TRUNKLINE_BROKER: "off",
    };
    const sh = (line: string) =>
      execFileSync("sh", ["-ec", line.replaceAll(ADDRESS, url)], { cwd: place.cwd, env, encoding: "utf8" });
    const [init = "", copy = "", verify = ""] = commands("trunkline store");
    expect(sh(init)).toContain("created a store");
    expect(sh(copy)).toContain("every content and document was verified");
    sh(verify);
    const [dump = ""] = commands("pg_dump");
    const [restore = ""] = commands("pg_restore");
    sh(dump);
    const found = () => sh(`trunkline store --store ${ADDRESS} search pelicans --type keyword`);
    const before = found();
    expect(before).toContain("notes.md");
    sh(`trunkline store --store ${ADDRESS} delete notes.md`);
    expect(() => found()).toThrow();
    sh(restore);
    expect(found()).toBe(before);
    sh(verify);
  });

  it("starts a gateway with the options it shows", async () => {
    await using cluster = await startPostgres(binaries ?? "");
    const url = cluster.createDatabase();
    const [serve = ""] = commands("trunkline serve");
    const [, given = ""] = /--gateway gateway-1 (.*)$/.exec(serve) ?? [];
    expect(given).not.toBe("");
    const place = teamPlace(url);
    const gateway = new GatewayProcess(place, {
      name: "gateway-1",
      port: await freePort(),
      args: ["--surface", "both", ...given.split(" ")],
    });
    try {
      using user = new Place({});
      expect(await user.run(["store", "init", url])).toMatchObject({ code: 0 });
      await gateway.start();
      const client = new TeamClient(gateway.url);
      expect(await client.call("execute", operation("add", { content: "x", name: "x.md" }))).toMatchObject({
        ok: true,
      });
    } finally {
      await gateway.end("SIGKILL");
      place.remove();
    }
  });

  it("starts a gateway with the script of its container, whose secrets are files", async () => {
    await using cluster = await startPostgres(binaries ?? "");
    const url = cluster.createDatabase();
    using place = new Place({ "secrets/database_password": "not needed here", "secrets/gateway_token": TOKEN });
    const port = await freePort();
    place.write("mcp.json", { mcpServers: {} });
    const programs = join(place.base, "bin");
    mkdirSync(programs);
    writeFileSync(join(programs, "trunkline"), `#!/bin/sh\nexec "${process.execPath}" "${bin}" "$@"\n`);
    chmodSync(join(programs, "trunkline"), 0o755);
    const env = {
      PATH: [programs, process.env.PATH].join(":"),
      HOME: place.home,
      TRUNKLINE_BROKER: "off",
      TRUNKLINE_STORE: url,
      SECRETS: join(place.cwd, "secrets"),
      MCP_FILE: join(place.cwd, "mcp.json"),
      ALLOW_HOST: "trunkline.example.com",
      GATEWAY: "gateway-1",
      HOST: "127.0.0.1",
      PORT: String(port),
      DRAIN: "1",
    };
    const script = join(root, "deploy", "gateway.sh");
    expect(execFileSync("sh", [script, "store", "init", url], { env, encoding: "utf8" })).toContain("created");
    const { spawn } = await import("node:child_process");
    const child = spawn("sh", [script], { env, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (said += text));
    const exit = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
    try {
      const ready = () =>
        fetch(`http://127.0.0.1:${port}/readyz`).then(
          ({ status }) => status,
          () => 0,
        );
      await expect.poll(ready, { interval: 200 }).toBe(200);
      const metrics = await fetch(`http://127.0.0.1:${port}/metrics`, {
        headers: { authorization: `Bearer ${TOKEN}` },
      });
      expect(metrics.status).toBe(200);
      for (const [, name = ""] of PAGE.matchAll(/^\| `(\w+)/gm))
        if (!/servers|calls/.test(name)) expect(await metrics.clone().text()).toContain(`# TYPE ${name} `);
    } finally {
      child.kill("SIGTERM");
    }
    expect(await exit).toBe(0);
    expect(said).not.toContain(TOKEN);
  });
});
