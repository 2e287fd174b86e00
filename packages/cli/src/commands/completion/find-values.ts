// Values not defined by the commands: servers, their tools, operations, what the store holds, programs, providers, files.
// Starts no server and asks nothing; skips what cannot be read.
import { isRecord } from "@trunkline/core";
import { knownTools } from "../../app/known-tools.js";
import type { CommandContext } from "../../terminal/context.js";
import type { Candidate, Candidates, Slot } from "./candidates.js";

/** Returns undefined if the name means something else in this place. */
type FindKind = (context: CommandContext, slot: Slot) => Candidates | undefined | Promise<Candidates>;

/** By option name, or by the name of an argument or option value in the help. */
const KINDS: Readonly<Record<string, FindKind>> = {
  path: () => ({ words: [], paths: "files" }),
  "path|hash": () => ({ words: [], paths: "files" }),
  file: () => ({ words: [], paths: "files" }),
  script: () => ({ words: [], paths: "files" }),
  args: () => ({ words: [], paths: "files" }),
  target: (_, { position }) => (position.isAfterDashes ? { words: [], paths: "files" } : { words: [] }),
  folder: () => ({ words: [], paths: "folders" }),
  server: async (context, slot) => ({ words: (await serverNames(context, slot)).map((name) => word(name)) }),
  tool: async (context, slot) => ({ words: await toolWords(context, slot) }),
  arguments: async (context, slot) => ({ words: await argumentWords(context, slot) }),
  words: async (context, slot) => await operationWords(context, slot),
  operation: async (context, slot) => ({ words: [...(await operations()), ...(await toolWords(context, slot))] }),
  collection: async (...at) => ({ words: await (await storeValues()).collectionWords(...at) }),
  snapshot: async (...at) => ({ words: await (await storeValues()).snapshotWords(...at) }),
  "snapshot|collection": async (...at) => {
    const { snapshotWords, collectionWords } = await storeValues();
    return { words: [...(await snapshotWords(...at)), ...(await collectionWords(...at))] };
  },
  // Elsewhere these are a file and a folder.
  from: (...at) => (at[1].position.command.name() === "diff" ? KINDS.snapshot?.(...at) : undefined),
  to: (...at) => (at[1].position.command.name() === "diff" ? KINDS.snapshot?.(...at) : undefined),
  session: async (...at) => ({ words: await (await storeValues()).sessionWords(...at) }),
  program: async () => {
    const { AGENT_PROGRAMS } = await import("../../install/agent-programs.js");
    return { words: AGENT_PROGRAMS.map(({ id, title }) => word(id, title)) };
  },
  source: async () => {
    const { IMPORT_SOURCES } = await import("@trunkline/config");
    return { words: [...IMPORT_SOURCES.map(({ id, title }) => word(id, title)), word("all")] };
  },
  provider: async () => {
    const { PROVIDER_NAMES } = await import("@trunkline/agent");
    return { words: PROVIDER_NAMES.map((name) => word(name)) };
  },
};

/** The names that {@link findValues} supports. */
export const VALUE_KINDS: readonly string[] = Object.keys(KINDS);

/** Returns the values for a slot; empty if nothing is known about it. */
export async function findValues(context: CommandContext, slot: Slot): Promise<Candidates> {
  for (const name of slot.names) {
    const find = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
    const found = await find?.(context, slot);
    if (found !== undefined) return found;
  }
  return { words: [] };
}

/** Loaded only for these values: the others need no store. */
async function storeValues() {
  return await import("./store-values.js");
}

function word(value: string, about = ""): Candidate {
  return { value, about };
}

/**
 * Lists the server names. Only reads the configuration: asks for no inputs, and ignores trust because names are
 * harmless.
 */
async function serverNames({ cwd, env, home, signal }: CommandContext, { position }: Slot): Promise<string[]> {
  const { loadConfig } = await import("@trunkline/config");
  const mcpPath = position.values.get("mcp");
  const config = await loadConfig({ cwd, env, home, mcpPath, signal, wanted: () => false });
  return config.servers.map(({ name }) => name);
}

/** Offers the servers with a dot first; after the dot, the known tools of that server. */
async function toolWords(context: CommandContext, slot: Slot): Promise<Candidate[]> {
  const servers = await serverNames(context, slot);
  const owner = await ownerOf(slot.position.current, servers);
  if (owner === undefined) return servers.map((name) => word(`${name}.`));
  const known = (await knownTools(context)).get(owner) ?? [];
  return known.map(({ name, description = "" }) => word(name, description.trim().split("\n", 1)[0]));
}

/** Offers the tool's parameters as `name=`. */
async function argumentWords(context: CommandContext, slot: Slot): Promise<Candidate[]> {
  const [tool = ""] = slot.position.given;
  const owner = await ownerOf(tool, await serverNames(context, slot));
  if (owner === undefined) return [];
  const known = (await knownTools(context)).get(owner)?.find(({ name }) => name === tool);
  return Object.keys(isRecord(known?.inputSchema.properties) ? known.inputSchema.properties : {}).map((name) =>
    word(`${name}=`),
  );
}

/**
 * Finds the server that a tool's name starts with. One server's name can be a prefix of another's, so the longest wins.
 */
async function ownerOf(tool: string, servers: readonly string[]): Promise<string | undefined> {
  const { ownersOf } = await import("@trunkline/config");
  return ownersOf(tool, servers)[0];
}

/**
 * Completes the arguments of `query` and `execute`: an operation and its parameters, a tool and its parameters, or a
 * file.
 */
async function operationWords(context: CommandContext, slot: Slot): Promise<Candidates> {
  const [operation] = slot.position.given;
  if (operation === undefined) {
    const tool = slot.position.command.name();
    const own = await operations(tool === "query" ? "read" : "write");
    return { words: [...own, ...(await toolWords(context, slot))], paths: "files" };
  }
  if (operation.includes(".")) return { words: await argumentWords(context, slot) };
  const schema = (await registeredOperations()).find(({ name }) => name === operation)?.schema.properties;
  return { words: Object.keys(isRecord(schema) ? schema : {}).map((name) => word(`${name}=`)) };
}

async function operations(kind?: "read" | "write"): Promise<Candidate[]> {
  const all = await registeredOperations();
  return all.filter((each) => kind === undefined || each.kind === kind).map(({ name, summary }) => word(name, summary));
}

async function registeredOperations() {
  const { createRegistry } = await import("@trunkline/gateway");
  const { storeOperations } = await import("@trunkline/store/contract");
  const never = () => Promise.reject(new Error("completion opens nothing"));
  await using registry = createRegistry({ backends: { hub: never, store: never, storeOperations }, workspace: "/" });
  return registry.builtin;
}
