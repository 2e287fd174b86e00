// A home, a project with a store, and a database dump, made by an earlier version and kept in the repository.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { weightsHome } from "../../packages/embed/test/weights.js";
import type { PostgresCluster } from "../../packages/store-postgres/test/support/postgres-cluster.js";
import { root as checkout, type Outcome, outcomeOf, seen } from "../e2e/command.js";
import { ServedStdio } from "../e2e/serve-stdio-client.js";
import { browse } from "../servers/browser.js";
import { startServer } from "../servers/start.js";

/** Approvals name folders, so the files are always unpacked to this one, whatever TMPDIR says. */
const FOLDER = "/tmp/trunkline-earlier-0.2.0";

const ARCHIVE = fileURLToPath(new URL("./0.2.0.tar.gz", import.meta.url));

export const SEARCHES = [
  { query: "exponential backoff", type: "keyword" },
  { query: "waiting longer after every failure", type: "semantic" },
  { query: "how are refunds paid", type: "hybrid" },
] as const;

/** What the earlier version answered. */
export interface Answers {
  readonly token: string;
  readonly tools: string[];
  readonly log: { operation: string; client: string; outcome: string }[];
  readonly signedIn: string;
  readonly searches: string[][];
}

const DOCUMENTS = {
  "docs/retries.md": "# Retries\n\nA failed request is sent again with exponential backoff, up to five times.\n",
  "docs/refunds.md": "# Refunds\n\nMoney goes back to the card that paid, within three days.\n",
  "docs/tea.md": "# Tea\n\nGreen tea is brewed at 80 degrees, black tea at 95.\n",
  "src/retry.ts":
    "/** Sends a request again, and doubles the delay each time. */\nexport function retry(send: () => void, times = 5): void {\n  for (let left = times; left > 0; left--) send();\n}\n",
  "src/pay.ts": 'import { retry } from "./retry.js";\n\nexport const refund = () => retry(() => {});\n',
};

/** The unpacked files, and a build of Trunkline that works with them. */
export class EarlierHome implements Disposable {
  readonly home = join(FOLDER, "home");
  readonly project = join(FOLDER, "project");
  /** A project whose only server was approved while it was disabled. */
  readonly resting = join(FOLDER, "resting");
  readonly #bin: string;

  private constructor(build: string) {
    this.#bin = join(build, "packages/cli/bin/trunkline.cjs");
  }

  /** Unpacks the files. */
  static unpack(): EarlierHome {
    rmSync(FOLDER, { recursive: true, force: true });
    mkdirSync(FOLDER, { mode: 0o700 });
    execFileSync("tar", ["-xzf", ARCHIVE, "-C", FOLDER]);
    const earlier = new EarlierHome(checkout);
    earlier.#linkModels();
    return earlier;
  }

  get answers(): Answers {
    return JSON.parse(readFileSync(join(FOLDER, "answers.json"), "utf8"));
  }

  get dump(): string {
    return readFileSync(join(FOLDER, "store.sql"), "utf8");
  }

  start(args: readonly string[], cwd = this.project) {
    const env = { PATH: process.env.PATH, HOME: this.home, TRUNKLINE_BROKER: "off", TRUNKLINE_NO_UPDATE_NOTICE: "1" };
    return spawn(process.execPath, [this.#bin, ...args], { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
  }

  async run(args: readonly string[], cwd = this.project): Promise<Outcome> {
    const child = this.start(args, cwd);
    child.stdin.end();
    return await outcomeOf(child);
  }

  /** Runs a command that has to succeed, and parses what it prints. */
  async #json<T>(args: readonly string[], cwd = this.project): Promise<T> {
    const { code, stdout, stderr } = await this.run([...args, "--json"], cwd);
    if (code !== 0) throw new Error(`${args.join(" ")} exited with ${code}: ${stderr}`);
    return JSON.parse(stdout);
  }

  async tools(): Promise<string[]> {
    const listed = await this.#json<{ name: string }[]>(["tools", "shop.*"]);
    return listed.map(({ name }) => name).sort();
  }

  /** Changes what the servers say. */
  changeServer(from: string, to: string): void {
    const file = join(FOLDER, "servers/server.mjs");
    writeFileSync(file, readFileSync(file, "utf8").replace(from, to));
  }

  async search(store?: string): Promise<string[][]> {
    const found: string[][] = [];
    for (const { query, type } of SEARCHES) {
      const where = store === undefined ? [] : ["--store", store];
      const { results } = await this.#json<{ results: { path: string }[] }>([
        ...["store", "search", query, "--type", type, "--limit", "3"],
        ...where,
      ]);
      found.push(results.map(({ path }) => path));
    }
    return found;
  }

  async log(): Promise<Answers["log"]> {
    const { code, stdout, stderr } = await this.run(["log", "--json"]);
    if (code !== 0) throw new Error(`log exited with ${code}: ${stderr}`);
    return stdout
      .trim()
      .split("\n")
      .map((line) => {
        const { operation, client, outcome } = JSON.parse(line);
        return { operation, client, outcome };
      });
  }

  async signedIn(): Promise<string> {
    return (await this.run(["auth", "status"])).stdout;
  }

  /**
   * Makes everything with another build, and writes the archive.
   *
   * @param build a built checkout of the earlier version
   */
  static async make(build: string, cluster: PostgresCluster): Promise<void> {
    rmSync(FOLDER, { recursive: true, force: true });
    const earlier = new EarlierHome(build);
    const write = (path: string, content: unknown) => {
      mkdirSync(dirname(join(FOLDER, path)), { recursive: true });
      writeFileSync(join(FOLDER, path), typeof content === "string" ? content : JSON.stringify(content, undefined, 2));
    };
    for (const [path, content] of Object.entries(DOCUMENTS)) write(`project/${path}`, content);
    mkdirSync(join(FOLDER, "servers"), { recursive: true });
    cpSync(new URL("./server.js", import.meta.url), join(FOLDER, "servers/server.mjs"));
    const server = { command: "node", args: [join(FOLDER, "servers/server.mjs")] };
    // Long enough for every later version.
    await using signIn = await startServer("oauth", ["--expires-in", String(50 * 365 * 24 * 3600)]);
    mkdirSync(join(earlier.home, ".trunkline"), { recursive: true, mode: 0o700 });
    write("home/.trunkline/settings.json", {
      mcpServers: { own: server, docs: { url: signIn.url } },
      policy: { "shop.order": "deny" },
    });
    earlier.#linkModels();
    write("project/.trunkline/mcp.json", { mcpServers: { shop: server } });
    write("resting/.trunkline/mcp.json", { mcpServers: { shop: { ...server, disabled: true } } });
    const done = async (args: readonly string[], cwd?: string) => {
      const outcome = await earlier.run(args, cwd);
      if (outcome.code !== 0) throw new Error(`${args.join(" ")} failed: ${outcome.stderr}`);
      return outcome.stdout;
    };
    await done(["trust", "--yes"]);
    await done(["trust", "--yes"], earlier.resting);
    await done(["init"]);
    const token = (await done(["tokens", "create", "laptop"])).trim();
    const login = earlier.start(["auth", "login", "docs", "--no-browser"]);
    const ended = outcomeOf(login);
    await browse((await seen(login.stderr, /^ {2}(http\S+)$/m))[1] ?? "");
    if ((await ended).code !== 0) throw new Error("The sign-in failed.");
    await done(["call", "shop.price", "item=tea"]);
    await done(["call", "own.price", "item=cake"]);
    {
      await using served = await ServedStdio.meet(earlier.start(["serve"]));
      await served.call("query", { steps: [{ op: "search", params: { query: "tea" } }] });
      await served.call("execute", { operations: [{ op: "shop.order", params: { item: "tea" } }] });
    }
    const database = cluster.createDatabase();
    await done(["store", "init", database]);
    await done(["store", "copy", join(earlier.project, ".trunkline/store"), database]);
    const answers: Answers = {
      token,
      tools: await earlier.tools(),
      searches: await earlier.search(),
      signedIn: await earlier.signedIn(),
      log: await earlier.log(),
    };
    if (JSON.stringify(await earlier.search(database)) !== JSON.stringify(answers.searches)) {
      throw new Error("The database does not find what the store finds.");
    }
    write("answers.json", answers);
    write("store.sql", cluster.dump(new URL(database).pathname.slice(1)));
    rmSync(join(earlier.home, ".trunkline/models"), { recursive: true, force: true });
    const names = ["home", "project", "resting", "servers", "answers.json", "store.sql"];
    const owner = ["--owner=0", "--group=0", "--numeric-owner"];
    execFileSync("tar", ["-czf", ARCHIVE, "-C", FOLDER, ...owner, "--exclude=*.lock.*", "--exclude=.cache", ...names]);
  }

  /** The model is not part of the files: it is large, and npm has it. */
  #linkModels(): void {
    const models = join(this.home, ".trunkline/models");
    if (!existsSync(models)) symlinkSync(join(weightsHome, "models"), models);
  }

  [Symbol.dispose](): void {
    rmSync(FOLDER, { recursive: true, force: true });
  }
}
