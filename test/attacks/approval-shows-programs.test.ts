// Whoever approves something sees what will run and where data goes. Names that look like secrets, and values that repeat
// a word of a command, must not hide any of it; values of variables and headers stay hidden.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { openApp } from "../../packages/cli/src/app/app.js";
import { addServer, listImports } from "../../packages/cli/src/console/new-servers.js";
import { trustFacts } from "../../packages/cli/src/console/trust-rows.js";
import { createContext } from "../../packages/cli/src/terminal/context.js";
import { describeFiles } from "../../packages/cli/src/terminal/trust-prompt.js";
import { shownVariable } from "../../packages/config/src/fingerprint.js";
import { loadConfig, TrustStore } from "../../packages/config/src/index.js";
import { hasControls, urlForApproval, valueForApproval } from "../../packages/core/src/index.js";
import { Place } from "../e2e/command.js";
import { npmServer, RegistryPlace, remoteServer } from "../e2e/registry-place.js";
import { type Random, seededRandom } from "../support/seed.js";

const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

function letters(random: Random, length: number): string {
  return Array.from({ length }, () => random.pick([...LETTERS])).join("");
}

/** A name that looks like a secret, and can be the name of a package, a file, a variable or a part of a host. */
function secretLooking(random: Random): string {
  const text = letters(random, 24);
  return random.pick([
    `sk-${text}`,
    `sk-proj-${text}`,
    `ghp_${text}`,
    `glpat-${text}`,
    `xoxb-${text}`,
    `npm_${text}`,
    `eyJ${text}.${letters(random, 20)}.${letters(random, 20)}`,
    Array.from({ length: 40 }, () => random.pick([..."0123456789abcdef"])).join(""),
    `password-${letters(random, 4)}`,
    `api-key-${letters(random, 12)}`,
    `AKIA${letters(random, 16).toUpperCase()}`,
    letters(random, 32),
  ]);
}

function hostName(random: Random): string {
  const label = secretLooking(random).toLowerCase().replaceAll("_", "-");
  return `${label}.evil${letters(random, 3)}.example`;
}

interface Sample {
  readonly servers: Record<string, Record<string, unknown>>;
  /** Commands, arguments, names and hosts. */
  readonly shown: readonly string[];
  readonly secrets: readonly string[];
}

/** Entries as a hostile project has them. */
function sample(random: Random): Sample {
  const shown: string[] = [];
  const secrets: string[] = [];
  const word = (text: string) => {
    shown.push(text);
    return text;
  };
  const secret = () => {
    const text = `s3cret${letters(random, 18)}`;
    secrets.push(text);
    return text;
  };
  const argument = () => {
    const name = secretLooking(random);
    return word(
      random.pick([
        name,
        `--token=${name}`,
        `--password=./${name}.sh`,
        `Authorization:${name}`,
        `./${name}/run.js`,
        `https://${hostName(random)}/${name}.tgz`,
        `https://x:80${letters(random, 8)}/@${hostName(random)}`,
        `API_KEY=${name};TOKEN=${name}`,
      ]),
    );
  };
  const servers: Sample["servers"] = {};
  for (let index = 0; index < 4; index++) {
    const command = word(random.pick(["npx", secretLooking(random), `./${secretLooking(random)}`]));
    const flag = word(random.pick(["-y", "--token", "-c", "-e", "--api-key", "-H", "--user"]));
    const args = [flag, ...Array.from({ length: 3 }, argument)];
    const env = {
      // A value that repeats a word of the command.
      REPEATED: random.pick([command, ...args]),
      API_TOKEN: secret(),
      [word(`${secretLooking(random).replaceAll(/[^\w]/g, "_")}_X`)]: `ghp_${letters(random, 30)}`,
    };
    servers[`local${index}`] = { command, args, env };
    const host = word(hostName(random));
    const url = random.pick([`https://${host}/mcp`, `https://u:${secret()}@${host}:8443/a?key=${secret()}`]);
    servers[`remote${index}`] = {
      type: "http",
      url,
      headers: { Authorization: `Bearer ${secret()}`, [word(`X-${letters(random, 24)}`)]: secret() },
    };
  }
  return { servers, shown, secrets };
}

/** A place whose user keeps every word of the sample as a secret, so that redaction would hide it. */
function placeOf({ shown }: Sample, files: Record<string, unknown> = {}): Place {
  const place = new Place({ ".git/HEAD": "", ...files });
  const env = Object.fromEntries(shown.map((text, index) => [`WORD_${index}`, text]));
  writeTo(place.home, ".trunkline/settings.json", { mcpServers: { own: { command: "own-mcp", env } } });
  return place;
}

function writeTo(folder: string, path: string, content: unknown): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(content));
}

/** Compares without the escapes that JSON in JSON has. */
function expectShown(text: string, { shown, secrets }: Omit<Sample, "servers">): void {
  const plain = text.replaceAll("\\", "");
  for (const word of shown) expect(plain).toContain(word);
  for (const secret of secrets) expect(plain).not.toContain(secret);
}

/** An app with the redaction of a console that knows every word of the sample as a secret. */
function consoleOf(place: Place, { shown }: Sample) {
  const context = createContext({
    stdin: Readable.from([]),
    stdout: new PassThrough().resume(),
    stderr: new PassThrough().resume(),
    env: { HOME: place.home },
    cwd: place.cwd,
    userHome: place.home,
  });
  context.redactor.add(...shown);
  const app = openApp(context, { config: "live" });
  return { app, onPage: (answer: unknown) => JSON.stringify(context.redactor.value(answer)) };
}

describe("an approval shows every command, argument, name and host, and no secret value", () => {
  const rounds = Array.from({ length: 6 }, (_, round) => [round + 1]);

  it.each(rounds)("in `trunkline trust`, as text and with --json (round %i)", async () => {
    const entries = sample(seededRandom());
    using place = placeOf(entries, { ".trunkline/mcp.json": { mcpServers: entries.servers } });
    const asked = await place.run(["trust"]);
    expectShown(asked.stdout, entries);
    const asJson = await place.run(["trust", "--json"]);
    expectShown(asJson.stderr, entries);
    const approved = await place.run(["trust", "--yes", "--json"]);
    expect(approved.code).toBe(0);
    expectShown(approved.stderr, entries);
  });

  it.each(rounds)("in the question of the console about a project (round %i)", async () => {
    const entries = sample(seededRandom());
    using place = placeOf(entries, { ".trunkline/mcp.json": { mcpServers: entries.servers } });
    const { app, onPage } = consoleOf(place, entries);
    try {
      expectShown(onPage(trustFacts(await app.config())), entries);
    } finally {
      await app.close();
    }
  });

  it.each(rounds)("in `trunkline import`, as text and with --json (round %i)", async () => {
    const entries = sample(seededRandom());
    using place = placeOf(entries, { "other.json": { mcpServers: entries.servers } });
    const args = ["import", "--from", "other.json", "--user", "--dry-run"];
    expectShown((await place.run(args)).stdout, entries);
    expectShown((await place.run([...args, "--json"])).stderr, entries);
  });

  it.each(rounds)("in the diffs of `import --move` and `setup` (round %i)", async () => {
    const entries = sample(seededRandom());
    using place = placeOf(entries);
    writeTo(place.home, ".cursor/mcp.json", { mcpServers: entries.servers });
    expectShown((await place.run(["import", "--move", "--dry-run"])).stdout, entries);
    expectShown((await place.run(["import", "--move", "--dry-run", "--json"])).stderr, entries);
    expectShown((await place.run(["setup", "--dry-run", "--json"])).stdout, entries);
  });

  it.each(rounds)("in the previews of the console before servers are added or imported (round %i)", async () => {
    const entries = sample(seededRandom());
    using place = placeOf(entries);
    writeTo(place.home, ".cursor/mcp.json", { mcpServers: entries.servers });
    const { app, onPage } = consoleOf(place, entries);
    try {
      const previews = [];
      for (const [name, { type: _, ...entry }] of Object.entries(entries.servers))
        previews.push(await addServer(app, { name, scope: "user", ...entry } as never, { dryRun: true }));
      expectShown(onPage(previews), entries);
      expectShown(onPage(await listImports(app)), entries);
    } finally {
      await app.close();
    }
  });

  it.each(rounds)("in `servers add` for a package of the registry (round %i)", async () => {
    const random = seededRandom();
    const identifier = `x${secretLooking(random)}`.replace(/^x(?=sk-)/, "");
    const variable = `V_${secretLooking(random).replaceAll(/[^\w]/g, "_")}_X`;
    const argument = `--token=${secretLooking(random)}`;
    using place = new RegistryPlace();
    await using _ = await place.open({
      servers: [
        npmServer({
          identifier,
          packageArguments: [{ type: "positional", value: argument }],
          environmentVariables: [{ name: variable, value: "fixed-value-1" }],
        }),
      ],
    });
    const shown = [identifier, variable, argument];
    for (const options of [[], ["--json"]]) {
      const { stdout, stderr } = await place.command(["servers", "add", "io.github.ada/docs", "--user", ...options]);
      const question = options.length === 0 ? stdout : stderr;
      expectShown(question, { shown, secrets: [] });
    }
  });

  it.each(rounds)("in `servers add` for a URL of the registry (round %i)", async () => {
    const random = seededRandom();
    const host = hostName(random);
    const header = `X-${letters(random, 24)}`;
    using place = new RegistryPlace();
    await using _ = await place.open({
      servers: [remoteServer({ url: `https://${host}/mcp`, headers: [{ name: header, value: "fixed" }] })],
    });
    const { stdout } = await place.command(["servers", "add", "io.github.ada/docs", "--user"]);
    expectShown(stdout, { shown: [host, header], secrets: [] });
  });
});

describe("hidden text in an approval", () => {
  const HIDDEN = "a\u001b[2J\u202eb\u200bc\u0007";

  it("is made visible in the paths, names and arguments of a project", () => {
    const wouldRun = [{ name: "x", what: "y" }];
    const [path = ""] = describeFiles([{ path: `/home/${HIDDEN}/mcp.json`, wouldRun }]);
    expect(path).toBe("/home/a\\u001b[2J\\u202eb\\u200bc\\u0007/mcp.json");
  });

  it("is made visible in the previews of the console", async () => {
    const entry = { command: HIDDEN, args: [HIDDEN] };
    using place = new Place();
    writeTo(place.home, ".cursor/mcp.json", { mcpServers: { x: entry, y: { url: `https://x.example/${HIDDEN}` } } });
    const { app } = consoleOf(place, { servers: {}, shown: [], secrets: [] });
    try {
      const preview = await addServer(app, { name: "x", scope: "user", ...entry }, { dryRun: true });
      const rows = [preview, ...(await listImports(app))].map((row) => JSON.parse(JSON.stringify(row)));
      expect(rows).toHaveLength(3);
      for (const { entry: shown, target = "" } of rows)
        expect(hasControls(shown.replaceAll("\n", "") + target)).toBe(false);
    } finally {
      await app.close();
    }
  });
});

describe("a URL in an approval", () => {
  it.each([
    ["https://sk-abcdefghijklmnop1234.evil.example/mcp", "sk-abcdefghijklmnop1234.evil.example"],
    ["https://evil.example:\t80/x@good.example", "evil.example"],
    ["https://evil.example:${PORT}/x@good.example/", "evil.example"],
    ["https://ab${X:-/}cdefghijk@good.example/", "ab"],
    ["https://${X:-}/ghp_abcdefghijklmnopqrstuvwx.evil.example/", "evil.example"],
    ["${X:-https://ghp_abcdefghijklmnopqrstuvwx.evil.example/}", "ghp_abcdefghijklmnopqrstuvwx.evil.example"],
    ["ht\ntps://ghp_abcdefghijklmnopqrstuvwx.evil.example/", "ghp_abcdefghijklmnopqrstuvwx.evil.example"],
    ["https:///ghp_abcdefghijklmnopqrstuvwx.evil.example/", "ghp_abcdefghijklmnopqrstuvwx.evil.example"],
    ["https:\\\\ghp_abcdefghijklmnopqrstuvwx.evil.example\\@good.example", "ghp_abcdefghijklmnopqrstuvwx.evil.example"],
  ])("shows the host that is really contacted: %j", (url, host) => {
    expect(urlForApproval(url)).toContain(host);
  });

  it("says how long its password, its query values and its tokens are", () => {
    expect(urlForApproval("https://ann:hunter2@x.example/s/Zk39aQ1LmX82pQw7uT5v/mcp?key=abc123")).toBe(
      "https://<redacted: 11 characters>@x.example/s/<redacted: 20 characters>/mcp?key=<redacted: 6 characters>",
    );
  });
});

const masked = (length: number) => `<redacted: ${length} characters>`;

describe("the value of a variable in an approval", () => {
  it.each([
    ["NODE_OPTIONS", "--require=sk-abcdefghijklmnop1234"],
    ["NODE_OPTIONS", "--import ./9f86d081884c7d659a2feaa0c55ad015a3bf4f1b/evil.js"],
    ["PYTHONPATH", "ghp_abcdefghijklmnopqrstuvwx"],
    ["LD_PRELOAD", "ghp_abcdefghijklmnopqrstuvwx.so"],
    ["OTHER", "token=./evil.sh"],
    ["OTHER", "./sk-abcdefghijklmnop1234/evil.js"],
    ["OTHER", "https://sk-abcdefghijklmnop1234.evil.example/x"],
    ["OTHER", "token=https://evil.example/x"],
    ["DOTNET_STARTUP_HOOKS", "sk-abcdefghijklmnop1234"],
    ["MY_HOOKS", "ghp_abcdefghijklmnopqrstuvwx"],
    ["RUSTC_WRAPPER", "ghp_abcdefghijklmnopqrstuvwx"],
    ["CARGO_BUILD_RUSTC", "ghp_abcdefghijklmnopqrstuvwx"],
    ["GOFLAGS", "-toolexec=ghp_abcdefghijklmnopqrstuvwx"],
    ["MAVEN_OPTS", "-javaagent:sk-abcdefghijklmnop1234"],
    ["ELECTRON_OPTIONS", "sk-abcdefghijklmnop1234"],
    ["SERVER_PACKAGE", "sk-abcdefghijklmnop1234"],
    ["GOOGLE_APPLICATION_CREDENTIALS", "./evil.json"],
    ["GOOGLE_APPLICATION_CREDENTIALS", "evil.json"],
    ["API_TOKEN", "keys/aB3dE6gH9jK2mN5pQ8rS1tU4.sh"],
    ["API_TOKEN", "/home/ann/evil"],
    ["API_TOKEN", "C:\\evil\\run"],
    ["API_TOKEN", "https://evil.example/x"],
    ["API_TOKEN", "https:evil.example/x"],
  ])("is shown if it can be a program or an address: %s=%s", (name, value) => {
    expect(valueForApproval(name, value)).toBe(value);
  });

  it.each([
    ["OTHER", "ghp_abcdefghijklmnopqrstuvwx", "<redacted: 28 characters>"],
    ["OTHER", "Bearer ghp_abcdefghijklmnopqrstuvwx", "Bearer <redacted: 28 characters>"],
    ["HEADERS", '{"Authorization":"Bearer ntn_abcdefghijklmnopqrst"}', '{"Authorization":"<redacted: 31 characters>"}'],
    ["DATABASE_URL", "postgres://ann:hunter2@db.example/main", "postgres://<redacted: 11 characters>@db.example/main"],
    ["NPM_CONFIG_REGISTRY", "https://ann:hunter2@npm.example/", "https://<redacted: 11 characters>@npm.example/"],
    ["API_TOKEN", "https://ann:hunter2@x.example/?k=abcd", `https://${masked(11)}@x.example/?k=${masked(4)}`],
    ["CARGO_REGISTRY_TOKEN", "cioabcdefghijklmnopqrstuvwxyz123", masked(32)],
    ["API_TOKEN", "ghp_abcdefghijklmnopqrstuvwx", masked(28)],
    ["API_TOKEN", "correct horse battery", masked(21)],
    ["AWS_SECRET", "/K7MDENG9wJalrXUtnFEMI8/bPxRfiCY4EXAMPLE", masked(40)],
    ["API_TOKEN", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N", masked(63)],
  ])("is masked with its length where it is a secret: %s=%s", (name, value, shown) => {
    expect(valueForApproval(name, value)).toBe(shown);
  });
});

describe("a part of a variable's value in an approval", () => {
  it.each([
    ["${workspaceFolder}/evil.json", "${workspaceFolder}/evil.json"],
    ["${KEY:-./evil.sh}", "${KEY:-./evil.sh}"],
    ["https://evil${X}.example/", "https://evil${X}.example/"],
    ["Bearer abcdefgh", `Bearer ${masked(8)}`],
    ["${KEY:-hunter2hunter2}", `\${KEY:-${masked(14)}}`],
  ])("is shown in %s if it is a path or a host, whatever the name", (text, shown) => {
    expect(shownVariable({ name: "API_KEY", text })).toBe(shown);
  });
});

describe("a project that is not approved", () => {
  const words = { A: "not started", B: "have not approved", C: "trunkline trust", D: "review and approve" };
  const header = { Authorization: "Bearer would run" };

  it.each([
    ["variables", { x: { command: "x", env: words } }],
    ["headers", { x: { url: "https://x.example/mcp", headers: { ...words, ...header } } }],
    ["arguments", { x: { command: "x", args: ["--token", words.C, `--password=${words.B}`, "--secret", words.A] } }],
    ["a URL", { x: { url: `https://x.example/mcp?key=${encodeURIComponent(words.C)}&token=approved` } }],
    ["its env file", { x: { command: "x", envFile: "more.env" } }],
    ["its .env", { x: { command: "x", env: { K: "${A_TOKEN} ${B_TOKEN}" } } }],
  ])("takes no words out of our messages with %s", async (_, mcpServers) => {
    using place = new Place({
      ".git/HEAD": "",
      ".trunkline/mcp.json": { mcpServers },
      "more.env": Object.entries(words)
        .map(([name, value]) => `${name}="${value}"`)
        .join("\n"),
      ".env": `A_TOKEN="${words.C}"\nB_TOKEN="${words.B}"\n`,
    });
    const { stderr } = await place.run(["tools"]);
    expect(stderr).toContain(
      "1 server of this project is not started because you have not approved what would run: x. Run `trunkline trust` to review and approve it.",
    );
    await place.run(["trust", "--yes"]);
    const { config } = await configOf(place);
    expect(config.secrets.length).toBeGreaterThan(0);
  });

  it("has the values of the user's own variables hidden as before", async () => {
    using place = new Place({
      ".git/HEAD": "",
      ".trunkline/mcp.json": { mcpServers: { x: { command: "x", args: ["${MY_TOKEN}"], env: { K: "${MY_TOKEN}" } } } },
    });
    const env = { MY_TOKEN: "correct horse battery" };
    const { stdout } = await place.run(["servers", "list", "--json"], { env });
    expect(stdout).toContain('"state": "untrusted"');
    expect(stdout).not.toContain(env.MY_TOKEN);
  });

  it("has its own secrets hidden where it is listed", async () => {
    using place = new Place({
      ".git/HEAD": "",
      ".env": "DB_PASS=correct-horse-1\n",
      ".trunkline/mcp.json": {
        mcpServers: {
          x: { command: "x", args: ["${DB_PASS}", "battery-staple-2"], env: { K: "battery-staple-2" } },
          y: { url: "https://y.example/battery-staple-3", headers: { "X-Key": "battery-staple-3" } },
        },
      },
    });
    for (const args of [["servers"], ["servers", "--json"], ["doctor"], ["doctor", "--format", "json"]]) {
      const { stdout } = await place.run(args);
      expect(stdout).toContain("y.example");
      expect(stdout).not.toMatch(/correct-horse|battery-staple/);
    }
  });
});

async function configOf({ cwd, home: userHome }: Place) {
  const home = join(userHome, ".trunkline");
  const { isTrusted } = new TrustStore(home);
  return { config: await loadConfig({ cwd, home, isTrusted, env: { HOME: userHome } }) };
}
