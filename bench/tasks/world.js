// The environment of the tasks: a folder, the three servers, and every way to reach them.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { toolsFrom } from "@trunkline/agent";
import { wireName } from "@trunkline/config";
import { journalFolder } from "../../packages/gateway/dist/journal/index.js";
import { hubOn, sleepingServer } from "../in-process.js";
import { serveCatalogue } from "./catalogue-server.js";
import { openGateway } from "./gateway.js";

/** @typedef {import("@trunkline/agent").Tool} Tool */
/** @typedef {Awaited<ReturnType<typeof openWorld>>} World */
/**
 * What a model has to work with: `listed` are the upstream tools in its list by `server.tool`, `signed` those whose
 * signatures it can read in the descriptions of the gateway's own, `own` the latter by their names, `instructions` what
 * the gateway says about itself.
 * @typedef {{
 *   tools: readonly Tool[],
 *   listed: ReadonlyMap<string, Tool>,
 *   signed: ReadonlySet<string>,
 *   own: ReadonlyMap<string, Tool>,
 *   instructions: string,
 *   close: () => Promise<void>,
 * }} Side
 */

const require = createRequire(import.meta.url);
const DAY_MS = 24 * 60 * 60 * 1000;
/** Each call of the journal is repeated on this many earlier days. */
const EARLIER_DAYS = 3;

/** Finds a server as its authors published it. @param {string} name */
function published(name) {
  const manifest = require.resolve(`@modelcontextprotocol/server-${name}/package.json`);
  return { args: [join(dirname(manifest), "dist", "index.js")], version: String(require(manifest).version) };
}

/**
 * Starts the servers for the direct side; gateways start their own. `further` servers are listed but never called: their
 * tools are in the model's list on the direct side, and in the catalogue behind a gateway. With `models`, a folder of
 * weights, `find` searches by meaning too.
 * @param {{ further?: readonly import("../catalogue.js").Listed[], models?: string | undefined }} [options]
 */
export async function openWorld({ further = [], models } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "trunkline-tasks-"));
  const work = join(folder, "work");
  const memoryFile = join(folder, "memory.jsonl");
  mkdirSync(work);
  const [everything, files, memory] = ["everything", "filesystem", "memory"].map(published);
  const entries = {
    everything: { args: everything?.args ?? [], env: {} },
    files: { args: [...(files?.args ?? []), "."], env: {} },
    memory: { args: memory?.args ?? [], env: { MEMORY_FILE_PATH: memoryFile } },
  };
  const started = Object.entries(entries).map(([name, entry]) => stdio(name, { ...entry, cwd: work }));
  const catalogue = await serveCatalogue(further);
  const mcp = join(folder, "mcp.json");
  const servers = Object.entries(entries).map(([name, entry]) => [
    name,
    { command: process.execPath, ...entry, cwd: work },
  ]);
  writeFileSync(mcp, JSON.stringify({ mcpServers: { ...Object.fromEntries(servers), ...catalogue.entries } }));
  const hub = await hubOn(started);
  await hub.connect();
  const names = hub.names();
  const called = toolsFrom(hub, { names: (tool) => names.name(tool, "wire") });
  const direct = [...called, ...further.flatMap(neverCalled)];
  let homes = 0;

  /** Creates a home with no journal and nothing known, or with the catalogue of an earlier one. @param {string} [earlier] */
  function newHome(earlier) {
    const home = join(folder, `home-${++homes}`);
    mkdirSync(home);
    mkdirSync(`${home}-store`);
    if (earlier !== undefined) cpSync(join(earlier, "cache"), join(home, "cache"), { recursive: true });
    if (models !== undefined) symlinkSync(models, join(home, "models"));
    return home;
  }

  /**
   * Opens a session with the gateway.
   * @param {string} surface
   * @param {{ home: string, client?: string | undefined }} options
   * @returns {Promise<Side & { query: import("./gateway.js").Gateway["query"] }>}
   */
  async function gateway(surface, { home, client }) {
    const env = { TRUNKLINE_HOME: home, TRUNKLINE_STORE: `${home}-store` };
    const args = ["--mcp", mcp, "--surface", surface];
    const { instructions, tools, query, close } = await openGateway({ args, env, cwd: folder, client });
    const own = new Map(tools.map((tool) => [tool.title.slice("trunkline.".length), tool]));
    const listed = new Map(
      direct.flatMap(({ title }) => {
        const tool = wireNames(title).flatMap((name) => own.get(name) ?? [])[0];
        return tool === undefined ? [] : [[title, tool]];
      }),
    );
    const text = ["query", "execute"].map((name) => own.get(name)?.description ?? "").join("\n");
    const signed = new Set(direct.map(({ title }) => title).filter((title) => isSigned(title, text)));
    return { tools, listed, signed, own, instructions, query, close };
  }

  return {
    tools: direct.length,
    versions: {
      "server-everything": everything?.version ?? "",
      "server-filesystem": files?.version ?? "",
      "server-memory": memory?.version ?? "",
    },
    /** @returns {Side} */
    direct: () => ({
      tools: direct,
      listed: new Map(direct.map((tool) => [tool.title, tool])),
      signed: new Set(),
      own: new Map(),
      instructions: "",
      close: async () => {},
    }),
    /** Opens a session with a new gateway, and waits for all servers. @param {string} surface */
    async gateway(surface) {
      const home = newHome();
      const session = await gateway(surface, { home });
      await untilAllConnected(session);
      return { home, ...session };
    },
    /**
     * Opens a session with a gateway that knows the servers' tools from an earlier one, which is closed. With
     * `hasJournal`, the calls of the earlier one were made on the days before.
     * @param {string} surface
     * @param {{ earlier: string, hasJournal?: boolean, client?: string }} options
     */
    async laterGateway(surface, { earlier, hasJournal = false, client }) {
      const home = newHome(earlier);
      if (hasJournal) copyJournal(earlier, home);
      return await gateway(surface, { home, client });
    },
    /** Whether a tool only reads. @param {string} title */
    isReadOnly: (title) => called.find((tool) => tool.title === title)?.readOnly === true,
    /**
     * Resets everything to the start of a task.
     * @param {{ files?: Readonly<Record<string, string | Uint8Array>>, memory?: readonly object[] }} start
     */
    reset({ files = {}, memory = [] }) {
      rmSync(memoryFile, { force: true });
      if (memory.length > 0) writeFileSync(memoryFile, memory.map((line) => JSON.stringify(line)).join("\n"));
      // Keep the folder itself: servers run in it.
      for (const path of ["in", "out"]) {
        rmSync(join(work, path), { recursive: true, force: true });
        mkdirSync(join(work, path));
      }
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(work, path)), { recursive: true });
        writeFileSync(join(work, path), content);
      }
    },
    /** Reads a file from the working folder. @param {string} path */
    read: (path) => readFileSync(join(work, path), "utf8"),
    /** Returns the contents of the memory. @returns {Record<string, unknown>[]} */
    remembered: () =>
      readFileSync(memoryFile, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line)),
    async close() {
      await hub.close();
      await catalogue.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Copies the calls that a gateway recorded to another home, as if they had been made on earlier days.
 * @param {string} from
 * @param {string} to
 */
function copyJournal(from, to) {
  const source = journalFolder(from, `${from}-store`);
  const target = journalFolder(to, `${to}-store`);
  mkdirSync(target, { recursive: true });
  for (const name of readdirSync(source).filter((file) => file.startsWith("calls-"))) {
    const lines = readFileSync(join(source, name), "utf8").trimEnd().split("\n");
    const earlier = Array.from({ length: EARLIER_DAYS }, (_, index) =>
      lines.map((line) => {
        const record = JSON.parse(line);
        return JSON.stringify({
          ...record,
          at: new Date(Date.parse(record.at) - (EARLIER_DAYS - index) * DAY_MS).toISOString(),
        });
      }),
    );
    writeFileSync(join(target, name), `${earlier.flat().join("\n")}\n`);
  }
}

/** @param {string} name @param {{ args: string[], env: Record<string, string>, cwd: string }} entry */
function stdio(name, entry) {
  return { ...sleepingServer(name), ...entry, lazy: false, command: process.execPath };
}

/** The names under which a gateway may list a tool. @param {string} title */
function wireNames(title) {
  const { server, tool } = partsOf(title);
  return [wireName({ server, tool }), `mcp__${server}__${tool}`];
}

/** Whether a text has a line such as `files: read(path), write(path, content)` with this tool. @param {string} title @param {string} text */
function isSigned(title, text) {
  const { server, tool } = partsOf(title);
  return text.split("\n").some((line) => line.startsWith(`${server}: `) && line.includes(` ${tool}(`));
}

/** @param {string} title */
function partsOf(title) {
  const dot = title.indexOf(".");
  return { server: title.slice(0, dot), tool: title.slice(dot + 1) };
}

/** @param {import("../catalogue.js").Listed} listed @returns {Tool[]} */
function neverCalled({ server, tools }) {
  return tools.map(({ name, description, inputSchema }) => ({
    name: wireName({ server, tool: name }),
    title: `${server}.${name}`,
    description,
    inputSchema,
    readOnly: true,
    call: () => Promise.reject(new Error(`${name} is only listed and cannot be called.`)),
  }));
}

/**
 * Waits for all servers, so that the first task sees the same tools as the last one. @param {Pick<import("./gateway.js").Gateway, "query">}
 * gateway
 */
async function untilAllConnected({ query }) {
  for (;;) {
    const answer = await query("describe", { find: "anything", limit: 1 });
    if (typeof answer === "object" && answer !== null && !("not_connected" in answer)) return;
  }
}
