// The principals of a running `serve --http`: the tokens in Trunkline's home, which can change at any time.
import { timingSafeEqual } from "node:crypto";
import { type FSWatcher, watch } from "node:fs";
import { type Logger, messageOf } from "@trunkline/core";
import { DEFAULT_PRINCIPAL, type Principals, tokenDigest } from "@trunkline/gateway/http";
import { defaultToken, readDefaultToken, readTokens } from "./token-files.js";

interface Known {
  readonly principal: string;
  readonly digest: Buffer;
  readonly expiresMs: number;
}

interface LivePrincipalsOptions {
  readonly home: string;
  readonly logger: Logger;
  /** The value of TRUNKLINE_TOKEN, which takes the place of the default token. */
  readonly environmentToken?: string;
}

export interface LivePrincipals extends Principals, Disposable {
  /** The default token, for the person who starts the server. */
  readonly token: string;
}

/** In case the file system reports no changes. */
const CHECKED_MS = 2_000;
/** The longest delay of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Reads the tokens, creates the default one on first use, and follows changes until disposed of. */
export async function openPrincipals(options: LivePrincipalsOptions): Promise<LivePrincipals> {
  const token = options.environmentToken ?? (await defaultToken(options.home));
  const files = new TokenFiles(options, token);
  await files.start();
  return files;
}

class TokenFiles implements LivePrincipals {
  readonly token: string;
  readonly hint: string;
  readonly #options: LivePrincipalsOptions;
  readonly #listeners = new Set<(principal: string) => void>();
  #known: readonly Known[] = [];
  #watcher: FSWatcher | undefined;
  #checking: NodeJS.Timeout | undefined;
  #expiring: NodeJS.Timeout | undefined;
  #reading: Promise<void> | undefined;
  #readAgain = false;
  #isClosed = false;

  constructor(options: LivePrincipalsOptions, token: string) {
    this.#options = options;
    this.token = token;
    const { environmentToken } = options;
    // Clients without a token read it, so it names no folder of this machine.
    this.hint =
      environmentToken === undefined
        ? "The token of this server is in the file `token` in its Trunkline home, usually ~/.trunkline; `trunkline tokens create <name>` makes others."
        : "The token is the value of TRUNKLINE_TOKEN where the server was started; `trunkline tokens create <name>` makes others.";
  }

  async start(): Promise<void> {
    // Unlike later, a file that cannot be used is reported to the person who starts the server.
    this.#use(await this.#read());
    this.#checking = setInterval(() => this.#refresh(), CHECKED_MS).unref();
    try {
      this.#watcher = watch(this.#options.home, { persistent: false }, () => this.#refresh());
      this.#watcher.on("error", (error) => this.#options.logger.debug("cannot watch the tokens", { error }));
    } catch (error) {
      this.#options.logger.debug("cannot watch the tokens", { error: messageOf(error) });
    }
  }

  identify(token: string): string | undefined {
    const digest = tokenDigest(token);
    const now = Date.now();
    let found: string | undefined;
    // Compares with all of them, so the time does not depend on the token.
    for (const known of this.#known) {
      if (timingSafeEqual(known.digest, digest) && now < known.expiresMs) found = known.principal;
    }
    return found;
  }

  onEnded(listener: (principal: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#watcher?.close();
    clearInterval(this.#checking);
    clearTimeout(this.#expiring);
  }

  #refresh(): void {
    if (this.#reading !== undefined) {
      this.#readAgain = true;
      return;
    }
    this.#readAgain = false;
    this.#reading = this.#read()
      .catch((error: unknown) => {
        // Fails closed: a token that cannot be checked is not accepted.
        this.#options.logger.error("cannot read the tokens; none is accepted", { error: messageOf(error) });
        return [];
      })
      .then((known) => {
        this.#reading = undefined;
        if (this.#isClosed) return;
        this.#use(known);
        if (this.#readAgain) this.#refresh();
      });
  }

  async #read(): Promise<readonly Known[]> {
    const { home, environmentToken } = this.#options;
    const own = environmentToken ?? (await readDefaultToken(home));
    const others = await readTokens(home);
    return [
      ...(own === undefined
        ? []
        : [{ principal: DEFAULT_PRINCIPAL, digest: tokenDigest(own), expiresMs: Number.POSITIVE_INFINITY }]),
      ...others.map(({ name, sha256, expiresAt }) => ({
        principal: name,
        digest: Buffer.from(sha256, "hex"),
        expiresMs: expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
      })),
    ];
  }

  /** Accepts these tokens from now on, and reports the principals whose token is gone, replaced or expired. */
  #use(known: readonly Known[]): void {
    const now = Date.now();
    const valid = known.filter(({ expiresMs }) => now < expiresMs);
    const ended = this.#known.filter((old) => !valid.some((one) => isSame(one, old)));
    this.#known = valid;
    clearTimeout(this.#expiring);
    const next = Math.min(...valid.map(({ expiresMs }) => expiresMs));
    if (next !== Number.POSITIVE_INFINITY && !this.#isClosed) {
      this.#expiring = setTimeout(() => this.#use(this.#known), Math.min(next - now, MAX_TIMER_MS)).unref();
    }
    for (const { principal } of ended) {
      this.#options.logger.info("a token is no longer valid", { principal });
      for (const listener of [...this.#listeners]) listener(principal);
    }
  }
}

function isSame(a: Known, b: Known): boolean {
  return a.principal === b.principal && a.digest.equals(b.digest);
}
