// Counts what tool lists cost and, under `auto`, what they save: a tool that is listed needs no search.
import type { Caller } from "../interfaces/exchange.js";
import type { ServedTool } from "../interfaces/served-tool.js";
import type { TokenAccount } from "../journal/journal.js";
import type { SentList } from "../journal/surface-totals.js";
import { SURFACE_NAMES, type SurfaceDecision } from "./surface-decision.js";

type Definitions = readonly ServedTool["definition"][];

/** What a client was listed last. */
interface Shown {
  readonly list: SentList;
  readonly upstream: Definitions;
  /** The listed upstream tools that it has not called yet. */
  readonly uncalled: Set<string>;
}

export class ListAccount {
  readonly #account: TokenAccount;
  readonly #own: Definitions;
  /** The lists that were sent, as text. */
  readonly #texts = new WeakMap<Definitions, string>();
  readonly #shown = new Map<string, Shown>();

  constructor(account: TokenAccount, own: Definitions) {
    this.#account = account;
    this.#own = own;
  }

  /** Counts a list. `upstream` are those of the tools that are not our own. */
  add(
    caller: Caller,
    { tools, upstream }: { readonly tools: Definitions; readonly upstream: Definitions },
    decision: SurfaceDecision | undefined,
  ): void {
    const text = this.#textOf(tools);
    if (decision === undefined || this.#account.addList === undefined) {
      this.#account.add("surface", text);
      return;
    }
    const { shape, reason, fullTokens: direct } = decision;
    const isSearched = shape === "direct";
    const list = {
      client: caller.name,
      surface: SURFACE_NAMES[shape],
      reason,
      composite: this.#textOf(this.#own),
      direct,
      isSearched,
    };
    this.#account.addList(text, list);
    if (isSearched || this.#shown.get(keyOf(caller))?.upstream === upstream) return;
    this.#shown.set(keyOf(caller), { list, upstream, uncalled: new Set(upstream.map(({ name }) => name)) });
  }

  /** Notes a call. Every call of an upstream tool passes here. */
  called(name: string, caller: Caller): void {
    const shown = this.#shown.get(keyOf(caller));
    if (shown?.uncalled.delete(name)) this.#account.addFound?.(shown.list);
  }

  /** The client has disconnected. */
  release(caller: Caller): void {
    this.#shown.delete(keyOf(caller));
  }

  #textOf(tools: Definitions): string {
    const text = this.#texts.get(tools) ?? JSON.stringify(tools);
    this.#texts.set(tools, text);
    return text;
  }
}

/** Clients without a session count as one for each principal: their number is unknown, and there are few principals. */
function keyOf({ lasting, id, principal }: Caller): string {
  return lasting ? id : principal;
}
