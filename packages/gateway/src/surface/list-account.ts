// Counts what tool lists cost and, under `auto`, what they save: a tool that is listed or signed needs no search.
import type { Caller } from "../interfaces/exchange.js";
import type { ServedTool } from "../interfaces/served-tool.js";
import type { TokenAccount } from "../journal/journal.js";
import type { SentList } from "../journal/surface-totals.js";
import { type SurfaceDecision, surfaceName } from "./surface-decision.js";

type Definitions = readonly ServedTool["definition"][];

/** What a client was listed last. */
interface Shown {
  readonly list: SentList;
  readonly decision: SurfaceDecision;
  /** The tools that it has used. */
  readonly used: Set<string>;
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

  add(caller: Caller, tools: Definitions, decision: SurfaceDecision | undefined): void {
    const text = this.#textOf(tools);
    if (decision === undefined || this.#account.addList === undefined) {
      this.#account.add("surface", text);
      return;
    }
    const { reason, fullTokens: direct } = decision;
    const isSearched = decision.shape === "direct";
    const list = {
      client: caller.name,
      surface: surfaceName(decision),
      reason,
      composite: this.#textOf(this.#own),
      direct,
      isSearched,
    };
    this.#account.addList(text, list);
    if (isSearched || this.#shown.get(keyOf(caller))?.decision === decision) return;
    this.#shown.set(keyOf(caller), { list, decision, used: new Set() });
  }

  /** Notes the use of an upstream tool, by whatever way. Every call passes here. */
  used(server: string, name: string, caller: Caller): void {
    const shown = this.#shown.get(keyOf(caller));
    if (shown === undefined || shown.used.has(name)) return;
    shown.used.add(name);
    const { servers, favourites, signed } = shown.decision;
    if (servers.has(server) || favourites.has(name) || signed.has(name)) this.#account.addFound?.(shown.list);
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
