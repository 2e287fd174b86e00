// Reads the entries of one configuration file. A malformed entry becomes a diagnostic and its neighbours are used.
import { findNodeAtLocation, getNodeValue, type Node } from "jsonc-parser";
import { z } from "zod";
import {
  type ConfigScope,
  DEFAULT_CALL_TIMEOUT_MS,
  DEFAULT_CONNECT_TIMEOUT_MS,
  type Diagnostic,
  type LoadedConfig,
  type ServerDefinition,
} from "./types.js";

/** What is known about the file that is being read. */
export interface EntryContext {
  file: string;
  scope: ConfigScope;
  locate: (node: Node) => { line: number; column: number };
}

const KEYS = ["servers", "mcpServers"] as const;

const EXPECTED_SHAPE = '{ "servers": { "name": { "command": "…", "args": ["…"] } } }';

const entrySchema = z.looseObject({
  type: z.enum(["stdio", "http"]).optional(),
  command: z.string().min(1).optional(),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.coerce.string()).default({}),
  cwd: z.string().optional(),
  url: z.url().optional(),
  headers: z.record(z.string(), z.string()).default({}),
  disabled: z.boolean().default(false),
  timeout: z.number().min(1).max(600).optional(),
  callTimeout: z.number().positive().optional(),
});

/** The servers of a parsed file, with what is wrong with it. */
export function readServers(
  root: Node,
  context: EntryContext,
): Pick<LoadedConfig, "servers" | "diagnostics" | "secrets"> {
  const { file, locate } = context;
  const key = KEYS.find((candidate) => findNodeAtLocation(root, [candidate]) !== undefined);
  if (key === undefined) {
    const message = `${file} has neither "servers" nor "mcpServers". Expected: ${EXPECTED_SHAPE}`;
    return { servers: [], diagnostics: [{ severity: "error", message, file, ...locate(root) }], secrets: [] };
  }
  const servers: ServerDefinition[] = [];
  const diagnostics: Diagnostic[] = [];
  const secrets: string[] = [];
  for (const property of findNodeAtLocation(root, [key])?.children ?? []) {
    const [nameNode, valueNode] = property.children ?? [];
    if (nameNode === undefined || valueNode === undefined) continue;
    const name = String(getNodeValue(nameNode));
    const parsed = entrySchema.safeParse(getNodeValue(valueNode));
    if (!parsed.success) {
      for (const issue of parsed.error.issues) {
        const path = issue.path.map((part) => (typeof part === "number" ? part : String(part)));
        const node = findNodeAtLocation(valueNode, path) ?? valueNode;
        const field = path.join(".");
        const where = field === "" ? "" : `, field "${field}"`;
        diagnostics.push({
          severity: "error",
          message: `Server "${name}"${where}: ${issue.message}.`,
          file,
          server: name,
          ...(field === "" ? {} : { field }),
          ...locate(node),
        });
      }
      continue;
    }
    const entry = parsed.data;
    secrets.push(...Object.values(entry.env), ...Object.values(entry.headers));
    const common = {
      name,
      scope: context.scope,
      file,
      disabled: entry.disabled,
      connectTimeoutMs: entry.timeout === undefined ? DEFAULT_CONNECT_TIMEOUT_MS : entry.timeout * 1000,
      callTimeoutMs: entry.callTimeout === undefined ? DEFAULT_CALL_TIMEOUT_MS : entry.callTimeout * 1000,
    };
    if (entry.command !== undefined && entry.type !== "http") {
      servers.push({
        ...common,
        type: "stdio",
        command: entry.command,
        args: entry.args,
        env: entry.env,
        ...(entry.cwd === undefined ? {} : { cwd: entry.cwd }),
      });
    } else if (entry.url !== undefined && entry.type !== "stdio") {
      servers.push({ ...common, type: "http", url: entry.url, headers: entry.headers });
    } else {
      const field = entry.type === "http" ? "url" : "command";
      const message = `Server "${name}" needs "${field}".`;
      diagnostics.push({ severity: "error", message, file, server: name, field, ...locate(valueNode) });
    }
  }
  return { servers, diagnostics, secrets };
}
