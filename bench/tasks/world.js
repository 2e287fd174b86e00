// The environment of the tasks: a folder, the three servers, and both ways to reach them.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { toolsFrom } from "@trunkline/agent";
import { wireName } from "@trunkline/client/internal";
import { hubOn, sleepingServer } from "../in-process.js";
import { COMMAND } from "../server/product.js";
import { serveCatalogue } from "./catalogue-server.js";

/** @typedef {import("@trunkline/agent").Tool} Tool */
/** @typedef {Awaited<ReturnType<typeof openWorld>>} World */
/** @typedef {"direct" | "composite"} Surface */

const require = createRequire(import.meta.url);

/** Finds a server as its authors published it. @param {string} name */
function published(name) {
  const manifest = require.resolve(`@modelcontextprotocol/server-${name}/package.json`);
  return { args: [join(dirname(manifest), "dist", "index.js")], version: String(require(manifest).version) };
}

/**
 * Starts the servers, once per surface. `further` servers are listed but never called: their tools are in the model's
 * list on the direct side, and in the catalogue on the composite side.
 * @param {{ further?: readonly import("../catalogue.js").Listed[] }} [options]
 */
export async function openWorld({ further = [] } = {}) {
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
  const env = { TRUNKLINE_HOME: join(folder, "home"), TRUNKLINE_STORE: join(folder, "store") };
  const hubs = {
    direct: await hubOn(started),
    composite: await hubOn([stdio("trunkline", { args: [COMMAND, "serve", "--mcp", mcp], env, cwd: folder })]),
  };
  await Promise.all(Object.values(hubs).map((hub) => hub.connect()));
  await untilAllConnected(hubs.composite);
  /** @type {Record<Surface, Tool[]>} */
  const tools = {
    direct: [...toolsOf(hubs.direct), ...further.flatMap(neverCalled)],
    composite: toolsOf(hubs.composite),
  };
  return {
    tools,
    versions: {
      "server-everything": everything?.version ?? "",
      "server-filesystem": files?.version ?? "",
      "server-memory": memory?.version ?? "",
    },
    /**
     * Resets everything to the start of a task.
     * @param {{ files?: Readonly<Record<string, string>>, memory?: readonly object[] }} start
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
      await Promise.all(Object.values(hubs).map((hub) => hub.close()));
      await catalogue.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** @param {string} name @param {{ args: string[], env: Record<string, string>, cwd: string }} entry */
function stdio(name, entry) {
  return { ...sleepingServer(name), ...entry, lazy: false, command: process.execPath };
}

/** @param {Awaited<ReturnType<typeof hubOn>>} hub */
function toolsOf(hub) {
  const names = hub.names();
  return toolsFrom(hub, { names: (tool) => names.name(tool, "wire") });
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
 * Waits for all servers, so that the first task sees the same tools as the last one. @param {Awaited<ReturnType<typeof
 * hubOn>>} hub
 */
async function untilAllConnected(hub) {
  for (;;) {
    const args = { steps: [{ op: "describe", params: { find: "anything", limit: 1 } }] };
    const { raw } = await hub.callTool("trunkline", "query", args);
    const answer = raw.structuredContent;
    if (typeof answer === "object" && answer !== null && !("not_connected" in answer)) return;
  }
}
