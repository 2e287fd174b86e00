// The pins of one server in a hub: compares every list it sends, keeps what was accepted, and knows what is held.

import type { ServerDefinition } from "@trunkline/config";
import { contentIdOf, type Logger, messageOf, TrunklineError } from "@trunkline/core";
import { type KnownTool, Neighbours } from "./neighbours.js";
import { pinFolder, pinOwner, pinPath, type ReadPins, readPins, updatePins } from "./pin-file.js";
import { approveHeld, compareList, type HeldItem, NO_PINS, type PinChange, type PinState } from "./pin-state.js";
import type { Definition, PinKind } from "./pinned-definition.js";

interface ServerPinsOptions {
  /** Trunkline's home; without it, pins last as long as the hub. */
  readonly home: string | undefined;
  readonly logger: Logger;
  /** The tools of the hub's other servers, connected or not. */
  readonly others: () => Promise<readonly KnownTool[]>;
  /** Whether a surface offers tools under their own names. */
  readonly plainNames?: boolean;
  readonly onNews?: (news: readonly PinChange[]) => void;
}

/** A held tool or prompt, with its server. */
export interface HeldEntry extends HeldItem {
  readonly server: string;
}

export class ServerPins {
  readonly #definition: ServerDefinition;
  readonly #options: ServerPinsOptions;
  readonly #path: string | undefined;
  readonly #held = new Map<PinKind, readonly HeldItem[]>();
  /** The state in memory: all there is without a home, and a fallback if the file cannot be used. */
  #known: ReadPins = { state: NO_PINS, text: undefined };
  #isFileUnusable = false;

  constructor(definition: ServerDefinition, options: ServerPinsOptions) {
    this.#definition = definition;
    this.#options = options;
    this.#path = options.home === undefined ? undefined : pinPath(pinFolder(options.home), pinOwner(definition));
  }

  /** What is held now, of one kind. */
  held(kind: PinKind): readonly HeldItem[] {
    return this.#held.get(kind) ?? [];
  }

  /** Compares a list and returns the items to offer. Never rejects. */
  async check(
    kind: PinKind,
    items: readonly Definition[],
    hash: string = contentIdOf(JSON.stringify(items)),
  ): Promise<readonly Definition[]> {
    const { pin: mode = "rules" } = this.#definition;
    if (mode === "off") {
      this.#held.delete(kind);
      return items;
    }
    const list = { kind, items, hash };
    const before = await this.#read();
    if (before.lists[kind] === list.hash) {
      this.#held.delete(kind);
      return items;
    }
    const { plainNames = false } = this.#options;
    // Only a new tool of a known server is compared with the tools of others.
    const isKnown = kind === "tools" && before.lists.tools !== undefined;
    const hasNew = isKnown && items.some(({ name }) => !before.pins.tools.has(String(name)));
    const others = hasNew ? await this.#others() : [];
    const neighbours = new Neighbours(this.#definition.name, () => others, { plainNames });
    const compare = (state: PinState) => compareList(state, list, { mode, neighbours });
    let verdict = await compare(before);
    if (verdict.isChanged) {
      await this.#update(async (current) => {
        if (current !== before) verdict = await compare(current);
        return verdict.isChanged ? verdict.state : undefined;
      });
    }
    this.#held.set(kind, verdict.held);
    this.#tell(verdict.news);
    return verdict.offered;
  }

  /** Whether everything that was held has stayed so: the user may have approved it in another process. */
  async isStillHeld(kind: PinKind): Promise<boolean> {
    const held = this.held(kind);
    if (held.length === 0) return true;
    const { pins } = await this.#read();
    return held.every(({ name, hash }) => pins[kind].get(name)?.held?.hash === hash);
  }

  /** Accepts what is held now under these names. The list has to be checked again afterwards. */
  async approve(kind: PinKind, names: readonly string[]): Promise<void> {
    const chosen = this.held(kind).filter(({ name }) => names.includes(name));
    await this.#update(async (current) => {
      const next = approveHeld(current, chosen);
      return next === current ? undefined : next;
    });
  }

  /** The names of the tools that this server is known to have, connected or not. */
  async knownTools(): Promise<readonly KnownTool[]> {
    const { pins } = await this.#read();
    return [...pins.tools].flatMap(([tool, { gone, hash }]) =>
      hash === undefined ? [] : [{ server: this.#definition.name, tool, ...(gone === true ? { gone } : {}) }],
    );
  }

  async #others(): Promise<readonly KnownTool[]> {
    const others = await this.#options.others();
    return others.filter(({ server }) => server !== this.#definition.name);
  }

  async #read(): Promise<PinState> {
    if (this.#path === undefined || this.#isFileUnusable) return this.#known.state;
    try {
      const read = await readPins(this.#path);
      if (read?.text !== this.#known.text) this.#known = read ?? { state: NO_PINS, text: undefined };
    } catch (error) {
      this.#giveUp(error);
    }
    return this.#known.state;
  }

  async #update(change: (current: PinState) => Promise<PinState | undefined>): Promise<void> {
    const inMemory = async () => {
      const state = await change(this.#known.state);
      if (state !== undefined) this.#known = { state, text: undefined };
    };
    if (this.#path === undefined || this.#isFileUnusable) return await inMemory();
    try {
      const owner = pinOwner(this.#definition);
      await updatePins({ path: this.#path, owner, known: this.#known }, change);
    } catch (error) {
      this.#giveUp(error);
      await inMemory();
    }
  }

  /** Without its file, a server is still pinned for as long as this process runs. */
  #giveUp(error: unknown): void {
    this.#isFileUnusable = true;
    this.#options.logger.warn("definitions are pinned only until this process ends", {
      server: this.#definition.name,
      error: messageOf(error),
    });
  }

  #tell(news: readonly PinChange[]): void {
    if (news.length === 0) return;
    const { logger, onNews } = this.#options;
    for (const { kind, name, change, reasons = [] } of news) {
      const fields = { server: this.#definition.name, kind, name };
      if (change === "held") {
        logger.warn("a definition is held until you approve it", {
          ...fields,
          reasons: reasons.map(({ text }) => text),
        });
      } else logger.info(change === "new" ? "a server has a new definition" : "a definition has changed", fields);
    }
    onNews?.(news);
  }
}

/** The error for using something held. */
export function heldError({ server, kind, name, reasons }: HeldEntry): TrunklineError {
  const what = kind === "tools" ? "tool" : "prompt";
  const why = reasons.map(({ text }) => text).join("; ");
  return new TrunklineError("DENIED", `The ${what} ${server}.${name} is held: ${why}.`, {
    hint: `The user can review it with \`trunkline tools --changes\` and allow it with \`trunkline tools --approve ${server}.${name}\`.`,
    data: { held: { server, name }, reasons: reasons.map(({ code }) => code) },
  });
}
