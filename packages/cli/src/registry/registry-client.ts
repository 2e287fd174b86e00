// The registry's HTTP API, version 0.1: search with cursors, and one version of one server. Every answer is limited in
// size and time, and a redirect never leads to another host.
import {
  isRecord,
  isString,
  isTrunklineError,
  parseJson,
  systemCodeOf,
  TrunklineError,
  toOneLine,
  withDeadline,
} from "@trunkline/core";
import { type RegistryServer, readServer } from "./registry-server.js";

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_REDIRECTS = 3;
const PAGE = 100;
const MAX_PAGES = 10;

interface SearchOptions {
  readonly words: readonly string[];
  /** How many servers to return at most. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

interface SearchOutcome {
  readonly servers: readonly RegistryServer[];
  /** Whether there may be more. */
  readonly isCut: boolean;
}

/**
 * Finds the latest versions of servers whose name or description has all words. The registry looks for one text; the
 * other words are compared here.
 */
export async function searchRegistry(registry: URL, options: SearchOptions): Promise<SearchOutcome> {
  const { words, limit, signal } = options;
  const wanted = words.map((word) => word.toLowerCase());
  const search = [...wanted].sort((a, b) => b.length - a.length)[0] ?? "";
  const found = new Map<string, RegistryServer>();
  const seen = new Set<string>();
  let cursor = "";
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = new URLSearchParams({ search, version: "latest", limit: String(PAGE), ...(cursor && { cursor }) });
    const answer = await getJson(registry, `v0.1/servers?${query}`, signal);
    if (!isRecord(answer) || !Array.isArray(answer.servers)) throw notARegistry(registry);
    for (const item of answer.servers) {
      const server = readServer(item);
      if (server === undefined || server.status === "deleted" || !server.isLatest) continue;
      const text = `${server.name} ${server.description}`.toLowerCase();
      if (!wanted.every((word) => text.includes(word)) || found.has(server.name)) continue;
      if (found.size === limit) return { servers: [...found.values()], isCut: true };
      found.set(server.name, server);
    }
    const next = isRecord(answer.metadata) ? answer.metadata.nextCursor : undefined;
    // A cursor that repeats itself would never end.
    if (!isString(next) || next === "" || seen.has(next)) return { servers: [...found.values()], isCut: false };
    seen.add(next);
    cursor = next;
  }
  return { servers: [...found.values()], isCut: true };
}

/** Returns one version of a server; `latest` is the newest. */
export async function findInRegistry(
  registry: URL,
  { name, version, signal }: { name: string; version: string; signal: AbortSignal },
): Promise<RegistryServer> {
  const path = `v0.1/servers/${encodeURIComponent(name)}/versions/${encodeURIComponent(version)}`;
  const answer = await getJson(registry, path, signal);
  const what = version === "latest" ? `"${name}"` : `version ${version} of "${name}"`;
  if (answer === undefined) {
    throw new TrunklineError("NOT_FOUND", `The registry ${registry.host} does not have ${what}.`, {
      hint: `Search it: trunkline servers search ${name.split("/")[1]}`,
    });
  }
  const server = readServer(answer);
  if (server === undefined) throw notARegistry(registry);
  if (server.name !== name || (version !== "latest" && server.version !== version)) {
    throw new TrunklineError("PROTOCOL", `The registry ${registry.host} answered with another server than ${what}.`, {
      hint: "Nothing was written. Report this to the operator of the registry.",
    });
  }
  return server;
}

/** Requests a path of the registry; undefined if the registry does not have it (404). */
async function getJson(registry: URL, path: string, signal: AbortSignal): Promise<unknown> {
  const base = registry.href.endsWith("/") ? registry.href : `${registry.href}/`;
  const deadline = { timeoutMs: TIMEOUT_MS, signal, what: `Asking the registry ${registry.host}`, hint: OFFLINE_HINT };
  return await withDeadline(deadline, async (within) => {
    const response = await follow(registry, new URL(path, base), within);
    const text = await readText(registry, response, within);
    if (response.status === 404) return undefined;
    const content = parseJson(text);
    if (response.status === 200 && content !== undefined) return content;
    const problem = isRecord(content) ? (content.error ?? content.detail ?? content.title) : undefined;
    const reason = isString(problem) ? `: ${toOneLine(problem).slice(0, 200)}` : "";
    if (response.status === 200) throw notARegistry(registry);
    throw new TrunklineError(
      "CONNECTION_FAILED",
      `The registry ${registry.host} answered ${response.status}${reason}.`,
      {
        hint: response.status >= 500 ? "Try again later." : "Check the address of the registry: --registry <url>",
      },
    );
  });
}

const OFFLINE_HINT =
  "Check your network and the registry's address. Servers that you know work without it: trunkline servers add <name> -- <command…>";

async function follow(registry: URL, first: URL, signal: AbortSignal): Promise<Response> {
  let url = first;
  for (let count = 0; count <= MAX_REDIRECTS; count++) {
    const response = await fetch(url, { signal, redirect: "manual", headers: { accept: "application/json" } }).catch(
      (error: unknown) => {
        throw signal.aborted ? error : unreachable(registry, error);
      },
    );
    const { status } = response;
    const location = status >= 300 && status < 400 ? response.headers.get("location") : null;
    if (location === null) return response;
    await response.body?.cancel();
    const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
    if (next?.origin !== registry.origin) {
      throw new TrunklineError("CONNECTION_FAILED", `The registry ${registry.host} redirects to another host.`, {
        hint: "If that is where the registry is now, name it with --registry <url>.",
      });
    }
    url = next;
  }
  throw new TrunklineError("CONNECTION_FAILED", `The registry ${registry.host} redirects too often.`, {
    hint: "Check the address of the registry: --registry <url>",
  });
}

function unreachable(registry: URL, error: unknown): TrunklineError {
  const code = systemCodeOf(error) ?? systemCodeOf(error instanceof Error ? error.cause : undefined);
  const reason = code === undefined ? "" : ` (${code})`;
  return new TrunklineError("CONNECTION_FAILED", `Cannot reach the registry at ${registry.host}${reason}.`, {
    cause: error,
    hint: OFFLINE_HINT,
  });
}

/** Reads the answer. Rejects as {@link follow} does if the connection breaks. */
async function readText(registry: URL, response: Response, signal: AbortSignal): Promise<string> {
  try {
    return await boundedText(registry, response);
  } catch (error) {
    throw signal.aborted || isTrunklineError(error) ? error : unreachable(registry, error);
  }
}

async function boundedText(registry: URL, { body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) {
      throw new TrunklineError("RESULT_TOO_LARGE", `The registry ${registry.host} answered with more than 8 MB.`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function notARegistry(registry: URL): TrunklineError {
  return new TrunklineError("PROTOCOL", `${registry.host} does not answer like an MCP registry.`, {
    hint: 'Check the address: --registry, TRUNKLINE_REGISTRY, or "registry" in your settings.',
  });
}
