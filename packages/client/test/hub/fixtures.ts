// Configurations for hub tests, built by hand so that they do not depend on how files are read.
import { fileURLToPath } from "node:url";
import type { HttpServer, LoadedConfig, ServerDefinition, StdioServer } from "../../src/index.js";

export function serverPath(name: string): string {
  return fileURLToPath(new URL(`../../../../test/servers/${name}.js`, import.meta.url));
}

const common = {
  scope: "explicit",
  dialect: "servers",
  file: "test.json",
  disabled: false,
  lazy: false,
  connectTimeoutMs: 10_000,
  callTimeoutMs: 10_000,
  trusted: true,
} as const;

/** A test server over stdio, under its own name by default. */
export function stdio(server: string, args: readonly string[] = [], more: Partial<StdioServer> = {}): StdioServer {
  return {
    ...common,
    name: server,
    type: "stdio",
    command: process.execPath,
    args: [serverPath(server), ...args],
    env: {},
    ...more,
  };
}

/** A server at a URL. */
export function http(name: string, url: string, more: Partial<HttpServer> = {}): HttpServer {
  return { ...common, name, type: "http", url, headers: {}, ...more };
}

/** A configuration of these servers. */
export function configOf(...servers: ServerDefinition[]): LoadedConfig {
  return {
    path: "test.json",
    exists: true,
    files: [],
    workspaceFolder: process.cwd(),
    servers,
    rejected: [],
    diagnostics: [],
    secrets: [],
  };
}

/** Resolves when the condition holds; checks it after every event from `subscribe`. */
export async function until(condition: () => boolean, subscribe: (listener: () => void) => () => void): Promise<void> {
  if (condition()) return;
  await new Promise<void>((resolve) => {
    const stop = subscribe(() => {
      if (!condition()) return;
      stop();
      resolve();
    });
  });
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
