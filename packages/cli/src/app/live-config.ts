// The effective configuration of a process that runs for long: read when it is first needed, and again whenever one of its
// files, or what the user has confirmed, changes. Nobody has to start anything anew for an edit.

import { join } from "node:path";
import { ConfigMemory, type ConfigWatch, type LoadedConfig, watchConfig } from "@trunkline/client/config";
import { isTrunklineError, messageOf } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";
import { untrustedNotice } from "../terminal/trust-prompt.js";

/** How the configuration is read. */
export interface LiveConfigOptions {
  /** Reads the files. A file that cannot be read is taken from the memory. */
  readonly read: (memory: ConfigMemory) => Promise<LoadedConfig>;
  /** Gets the configuration, now and after each change. */
  readonly onConfig: (config: LoadedConfig) => void | Promise<void>;
}

/** The configuration, kept current. */
export class LiveConfig implements AsyncDisposable {
  readonly #context: CommandContext;
  readonly #options: LiveConfigOptions;
  /** A file that somebody is editing goes on as it was: neither its servers nor its rules are lost meanwhile. */
  readonly #memory = new ConfigMemory();
  /** What was said of the configuration as it is; it is not said again after each edit, but when it is true again. */
  #said = new Set<string>();
  readonly #ended: Promise<void>[] = [];
  #watch: { files: string; watch: ConfigWatch } | undefined;
  #closed = false;

  private constructor(context: CommandContext, options: LiveConfigOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** Reads the configuration and hands it over, now and after each change. Rejects as `loadConfig` does. */
  static async open(context: CommandContext, options: LiveConfigOptions): Promise<LiveConfig> {
    const live = new LiveConfig(context, options);
    await live.#read();
    return live;
  }

  /** Ends the watching. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([this.#watch?.watch.close(), ...this.#ended]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #read(): Promise<void> {
    const { read, onConfig } = this.#options;
    const config = await read(this.#memory);
    if (this.#closed) return;
    this.#say(config);
    this.#follow(config);
    await onConfig(config);
  }

  async #readAgain(): Promise<void> {
    try {
      await this.#read();
    } catch (error) {
      // The configuration that was there goes on; a half-written file is soon a whole one.
      if (!isTrunklineError(error)) throw error;
      this.#note([...this.#said, `The configuration could not be read again: ${messageOf(error)}`]);
    }
  }

  #follow(config: LoadedConfig): void {
    const paths = [...config.files.map(({ path }) => path), join(this.#context.home, "trust.json")];
    const files = paths.join("\n");
    if (this.#watch?.files === files) return;
    const former = this.#watch?.watch;
    const watch = watchConfig(
      { files: paths.map((path) => ({ path, scope: "user", exists: true, wouldRun: [] })) },
      { onChange: () => this.#readAgain() },
    );
    this.#watch = { files, watch };
    // Not awaited here: it is the former one that is calling, and it waits for this to return.
    if (former !== undefined) this.#ended.push(former.close());
  }

  #say(config: LoadedConfig): void {
    const lines = config.diagnostics
      .filter(({ severity, shadowing }) => severity !== "note" || shadowing)
      .map(
        ({ severity, message, file, line }) =>
          `${severity}: ${message} (${file}${line === undefined ? "" : `:${line}`})`,
      );
    const notice = untrustedNotice(config);
    this.#note(notice === undefined ? lines : [...lines, notice]);
  }

  #note(lines: readonly string[]): void {
    for (const line of new Set(lines)) if (!this.#said.has(line)) this.#context.note(line);
    this.#said = new Set(lines);
  }
}
