// registry: an MCP registry, as its OpenAPI document of 2025-12-01 describes it: the list with search, version and
// cursor, one version of a server, and errors as {"error": "…"}. It runs in the process of the test.
// https://github.com/modelcontextprotocol/registry/blob/main/docs/reference/api/openapi.yaml

import { once } from "node:events";
import { createServer } from "node:http";
import { sendJson } from "./network.js";

/**
 * @typedef {{ name: string, description: string, version: string, [field: string]: unknown }} ServerDetail
 * @typedef {{ status?: "active" | "deprecated" | "deleted", statusMessage?: string, isLatest?: boolean }} Official
 * @typedef {{ server: ServerDetail, official?: Official }} Published a server, and what the registry knows about it
 */

/**
 * @typedef {object} RegistryOptions
 * @property {readonly Published[]} [servers]
 * @property {number} [pageSize] the most servers on one page, whatever the client asks for; default 30
 * @property {(request: import("node:http").IncomingMessage, response: import("node:http").ServerResponse) => boolean} [before]
 *   misbehaves: returns true if it has answered
 */

/** @typedef {{ url: string, requests: string[] } & AsyncDisposable} StartedRegistry */

const OFFICIAL = "io.modelcontextprotocol.registry/official";

/**
 * Starts a registry on a free port.
 *
 * @param {RegistryOptions} [options]
 * @returns {Promise<StartedRegistry>}
 */
export async function startRegistry({ servers = [], pageSize = 30, before = () => false } = {}) {
  /** @type {string[]} */
  const requests = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    if (!before(request, response)) answer(request, response);
  });

  /** @type {import("node:http").RequestListener} */
  const answer = (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    // The name is one segment: its slash is encoded.
    const [, version, kind, name, versions, wanted, ...rest] = pathname.split("/").map(decodeURIComponent);
    if (request.method !== "GET" || (version !== "v0.1" && version !== "v0") || kind !== "servers" || rest.length > 0)
      return sendJson(response, 404, { error: "Not found" });
    if (name === undefined) return sendJson(response, 200, list(searchParams));
    const known = servers.filter(({ server, official }) => server.name === name && official?.status !== "deleted");
    if (versions !== "versions" || known.length === 0) return sendJson(response, 404, { error: "Server not found" });
    if (wanted === undefined)
      return sendJson(response, 200, { servers: known.map(wrapped), metadata: { count: known.length } });
    const found = known.find(({ server, official }) =>
      wanted === "latest" ? official?.isLatest !== false : server.version === wanted,
    );
    if (found === undefined) return sendJson(response, 404, { error: "Server version not found" });
    sendJson(response, 200, wrapped(found));
  };

  /** @param {URLSearchParams} query */
  const list = (query) => {
    const text = (query.get("search") ?? "").toLowerCase();
    const matching = servers.filter(({ server, official }) => {
      if (official?.status === "deleted" && query.get("include_deleted") !== "true") return false;
      if (query.get("version") === "latest" && official?.isLatest === false) return false;
      return server.name.toLowerCase().includes(text) || server.description.toLowerCase().includes(text);
    });
    // Opaque for clients.
    const from = Number(Buffer.from(query.get("cursor") ?? "", "base64url").toString() || 0);
    const size = Math.min(pageSize, Number(query.get("limit") ?? 30));
    const page = matching.slice(from, from + size);
    const next = from + size < matching.length ? Buffer.from(String(from + size)).toString("base64url") : undefined;
    return {
      servers: page.map(wrapped),
      metadata: { count: page.length, ...(next === undefined ? {} : { nextCursor: next }) },
    };
  };

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("listening, but not on a TCP port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** @param {Published} published */
function wrapped({ server, official }) {
  const times = { publishedAt: "2026-01-02T03:04:05Z", updatedAt: "2026-01-02T03:04:05Z" };
  return { server, _meta: { [OFFICIAL]: { status: "active", isLatest: true, ...times, ...official } } };
}
