// A server whose definitions a test changes, in its own home.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Hub, type HubOptions, openHub, type StdioServer } from "../../packages/client/src/index.js";
import { configOf, serverPath, stdio } from "../../packages/client/test/hub/fixtures.js";

export type Definition = Readonly<Record<string, unknown>>;

export interface Definitions {
  readonly tools?: readonly Definition[];
  readonly prompts?: readonly Definition[];
  readonly instructions?: string;
}

const ANNOUNCE: Definition = { name: "announce", description: "Announces changes.", inputSchema: { type: "object" } };

export function tool(name: string, more: Definition = {}): Definition {
  return { name, description: `Does ${name}.`, inputSchema: { type: "object", properties: {} }, ...more };
}

/** A home, and servers that read their definitions from files in it. */
export class ChangingServers implements Disposable {
  readonly home = mkdtempSync(join(tmpdir(), "trunkline-pins-"));
  readonly #definitions = new Map<string, StdioServer>();

  /** Adds a server, or changes what it lists. */
  define(server: string, definitions: Definitions, more: Partial<StdioServer> = {}): void {
    const { tools = [], ...rest } = definitions;
    writeFileSync(this.#file(server), JSON.stringify({ tools: [ANNOUNCE, ...tools], ...rest }));
    const args = ["--definitions", this.#file(server), "--calls", this.#calls(server)];
    if (!this.#definitions.has(server) || Object.keys(more).length > 0)
      this.#definitions.set(server, stdio("changing", args, { name: server, ...more }));
  }

  /** An entry as a configuration file has it. */
  entry(server: string): Definition {
    const args = [serverPath("changing"), "--definitions", this.#file(server), "--calls", this.#calls(server)];
    return { command: process.execPath, args };
  }

  definition(server: string): StdioServer {
    const found = this.#definitions.get(server);
    if (found === undefined) throw new Error(`no server ${server}`);
    return found;
  }

  async open(options: HubOptions = {}): Promise<Hub> {
    return await openHub(configOf(...this.#definitions.values()), { home: this.home, ...options });
  }

  /** Opens a hub, connects every server, and closes it again: one run. */
  async run(options: HubOptions = {}): Promise<void> {
    await using hub = await this.open(options);
    await hub.connect();
  }

  /** The names of the tools that were called. */
  calls(server: string): string[] {
    try {
      return readFileSync(this.#calls(server), "utf8")
        .trim()
        .split("\n")
        .filter((name) => name !== "announce");
    } catch {
      return [];
    }
  }

  #file(server: string): string {
    return join(this.home, `${server}.definitions.json`);
  }

  #calls(server: string): string {
    return join(this.home, `${server}.calls`);
  }

  [Symbol.dispose](): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** Announces a change of a server's tools, and waits until the hub has read the list again. */
export async function announce(hub: Hub, server: string): Promise<void> {
  const changed = new Promise<void>((resolve) => {
    const stop = hub.onCatalogChanged(() => {
      stop();
      resolve();
    });
  });
  await hub.callTool(server, "announce", {});
  await changed;
}
