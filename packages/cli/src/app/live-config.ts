// The configuration of a long-running process: read on first use, and again whenever one of its files or the user's
// approvals change. Edits need no restart.

import { join } from "node:path";
import { ConfigMemory, type ConfigWatch, type LoadedConfig, watchConfig } from "@trunkline/config";
import { isTrunklineError, messageOf } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";
import { untrustedNotice } from "../terminal/trust-prompt.js";
import { configProblems } from "./config-problems.js";

interface LiveConfigOptions {
  /** Reads the files. For an unreadable file, uses the content kept in `memory`. */
  readonly read: (memory: ConfigMemory) => Promise<LoadedConfig>;
  /** Receives the configuration, now and after each change. */
  readonly onConfig: (config: LoadedConfig) => void | Promise<void>;
}

/** The configuration, kept up to date. */
export class LiveConfig implements AsyncDisposable {
  readonly #context: CommandContext;
  readonly #options: LiveConfigOptions;
  /**
   * Keeps the previous content of a file that is being edited, so that its servers and policy are not lost meanwhile.
   */
  readonly #memory = new ConfigMemory();
  /**
   * Messages already shown about the current configuration. They are not repeated after each edit, only when they
   * become true again.
   */
  #said = new Set<string>();
  readonly #ended: Promise<void>[] = [];
  #watch: { files: string; watch: ConfigWatch } | undefined;
  #closed = false;

  private constructor(context: CommandContext, options: LiveConfigOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** Reads the configuration and delivers it, now and after each change. Rejects like `loadConfig`. */
  static async open(context: CommandContext, options: LiveConfigOptions): Promise<LiveConfig> {
    const live = new LiveConfig(context, options);
    await live.#read();
    return live;
  }

  /** Reads the files again if they have changed: events about a change arrive a moment after it. */
  async refresh(): Promise<void> {
    await this.#watch?.watch.check();
  }

  /** Stops watching. Idempotent. */
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
      // Keep the previous configuration; a half-written file is soon complete.
      if (!isTrunklineError(error)) throw error;
      this.#note([...this.#said, `Cannot reload the configuration: ${messageOf(error)}`]);
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
    // Not awaited: the previous watch is the caller, and it waits for this to return.
    if (former !== undefined) this.#ended.push(former.close());
  }

  #say(config: LoadedConfig): void {
    const lines = configProblems(config).map(({ text }) => text);
    const notice = untrustedNotice(config);
    this.#note(notice === undefined ? lines : [...lines, notice]);
  }

  #note(lines: readonly string[]): void {
    for (const line of new Set(lines)) if (!this.#said.has(line)) this.#context.note(line);
    this.#said = new Set(lines);
  }
}
