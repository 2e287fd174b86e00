// Who may use the console: a one-time code from `trunkline console` becomes a bearer token of one browser tab.
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** A token as it is saved: only its hash. */
export interface SavedToken {
  readonly id: string;
  /** SHA-256 of the secret, in hex. */
  readonly hash: string;
  /** Milliseconds since 1970. */
  readonly expiresMs: number;
}

interface ConsoleAccessOptions {
  /** Tokens of a console that this one replaces. */
  readonly tokens?: readonly SavedToken[];
  /** Called when the tokens have changed. */
  readonly onTokens?: (tokens: readonly SavedToken[]) => void;
}

/** A link is opened at once, or not at all. */
const CODE_LIFE_MS = 2 * 60_000;
const TOKEN_LIFE_MS = 12 * 60 * 60_000;
/** The oldest ones are dropped: a person has few tabs. */
const MAX_CODES = 20;
const MAX_TOKENS = 50;
const MAX_NONCE_CHARS = 200;

export class ConsoleAccess {
  readonly #options: ConsoleAccessOptions;
  /** By hash: when each code expires. */
  readonly #codes = new Map<string, number>();
  readonly #tokens = new Map<string, SavedToken>();

  constructor(options: ConsoleAccessOptions = {}) {
    this.#options = options;
    for (const token of options.tokens ?? []) if (token.expiresMs > Date.now()) this.#tokens.set(token.id, token);
  }

  /** Creates a code that one page can exchange for a token, once. */
  createCode(): string {
    const code = randomBytes(32).toString("base64url");
    this.#codes.set(hashOf(code), Date.now() + CODE_LIFE_MS);
    dropOldest(this.#codes, MAX_CODES);
    return code;
  }

  /** Exchanges a code; undefined if it is unknown, used or too old. */
  exchange(code: string): string | undefined {
    const hash = hashOf(code);
    const expiresMs = this.#codes.get(hash);
    this.#codes.delete(hash);
    if (expiresMs === undefined || expiresMs <= Date.now()) return undefined;
    const [id, secret] = [randomBytes(8).toString("hex"), randomBytes(32).toString("base64url")];
    this.#tokens.set(id, { id, hash: hashOf(secret), expiresMs: Date.now() + TOKEN_LIFE_MS });
    dropOldest(this.#tokens, MAX_TOKENS);
    this.#options.onTokens?.([...this.#tokens.values()]);
    return `${id}.${secret}`;
  }

  /** Returns the id of the token in an Authorization header; undefined if it is not valid. */
  identify(authorization: string | undefined): string | undefined {
    const [, id = "", secret = ""] = /^Bearer ([0-9a-f]{16})\.([\w-]{43})$/.exec(authorization ?? "") ?? [];
    const known = this.#valid(id);
    if (known === undefined) return undefined;
    return timingSafeEqual(Buffer.from(hashOf(secret), "hex"), Buffer.from(known.hash, "hex")) ? id : undefined;
  }

  /**
   * Proves to a page that this is the console that gave it its token, before the page sends it: after a broker has
   * ended, a process of another user could listen on its port. Undefined if the token is not known here.
   */
  prove(id: string, nonce: string): string | undefined {
    const known = this.#valid(id);
    if (known === undefined || nonce.length > MAX_NONCE_CHARS) return undefined;
    return createHmac("sha256", Buffer.from(known.hash, "hex")).update(nonce).digest("hex");
  }

  #valid(id: string): SavedToken | undefined {
    const known = this.#tokens.get(id);
    return known !== undefined && known.expiresMs > Date.now() ? known : undefined;
  }
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function dropOldest(map: Map<string, unknown>, max: number): void {
  for (const key of map.keys()) {
    if (map.size <= max) return;
    map.delete(key);
  }
}
