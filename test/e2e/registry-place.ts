// A HOME with a stand-in keychain and stand-in package runners, and a registry to add servers from.
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RegistryOptions, startRegistry } from "../servers/registry.js";
import { StandInKeychain } from "../support/stand-in-keychain.js";
import { Place } from "./command.js";

export const HASH = `sha512-${"A".repeat(86)}==`;

/** Runners that exist and do nothing; `npm view` reports a hash, and lists how it was called. */
const NPM = `#!${process.execPath}
require("node:fs").appendFileSync(__filename + ".log", JSON.stringify([process.cwd(), ...process.argv.slice(2)]) + "\\n");
console.log(JSON.stringify("${HASH}"));
`;

export class RegistryPlace extends Place {
  readonly keychain = new StandInKeychain(join(this.base, "bin"));
  #address = "";

  /** Installs programs with these names, besides npm and npx. */
  install(...programs: string[]): void {
    for (const name of programs) this.#program(name, `#!${process.execPath}\n`);
  }

  async open(options: RegistryOptions): Promise<AsyncDisposable & { readonly requests: readonly string[] }> {
    this.#program("npm", NPM);
    this.install("npx");
    const registry = await startRegistry(options);
    this.#address = registry.url;
    return registry;
  }

  /** Only the stand-ins are on the PATH. */
  get variables(): Record<string, string> {
    return { PATH: join(this.base, "bin"), TRUNKLINE_REGISTRY: this.#address };
  }

  get address(): string {
    return this.#address;
  }

  command(args: readonly string[], options: { input?: string; env?: Record<string, string> } = {}) {
    return this.run(args, { ...options, env: { ...this.variables, ...options.env } });
  }

  /** The entries in the user's settings. */
  get entries(): Record<string, Record<string, unknown>> {
    const file = join(this.home, ".trunkline", "settings.json");
    return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).mcpServers : {};
  }

  get npmCalls(): string[][] {
    const file = join(this.base, "bin", "npm.log");
    return existsSync(file)
      ? readFileSync(file, "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line))
      : [];
  }

  #program(name: string, text: string): void {
    const file = join(this.base, "bin", name);
    writeFileSync(file, text);
    chmodSync(file, 0o755);
  }
}

type Fields = Record<string, unknown>;

/** A published server with one npm package. */
export function npmServer(fields: Fields = {}, server: Fields = {}) {
  return published({
    packages: [
      {
        registryType: "npm",
        identifier: "@ada/docs-mcp",
        version: "1.2.3",
        transport: { type: "stdio" },
        ...fields,
      },
    ],
    ...server,
  });
}

/** A published server with one URL. */
export function remoteServer(fields: Fields = {}) {
  return published({ remotes: [{ type: "streamable-http", url: "https://docs.example.com/mcp", ...fields }] });
}

export function published(server: Fields, official: Fields = {}) {
  return {
    server: { name: "io.github.ada/docs", description: "Searches documents", version: "1.2.3", ...server },
    official,
  };
}
