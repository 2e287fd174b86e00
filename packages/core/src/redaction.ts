// Redaction by value: secrets are known by their source (a header, an environment variable, an input), not by their
// shape. Every known secret is replaced in every string that leaves the program, including its encoded forms.
import { REDACTED, secretsInUrl } from "./literal-secrets.js";

/** Shorter values are not redacted in free text: replacing "1" or "true" everywhere would make it unreadable. */
export const MIN_SECRET_LENGTH = 6;

/** Shorter lines of a secret with several lines can be anything. */
const MIN_LINE_LENGTH = 16;

/** Holds a set of secrets and removes them from text and structured values. */
export class Redactor {
  /** Each secret, with the text that replaces it. */
  readonly #secrets = new Map<string, string>();
  #patterns: Patterns | undefined;

  /**
   * Adds secret values; ignores those shorter than {@link MIN_SECRET_LENGTH} characters. Of a URL the host stays
   * visible, so that a wrong one can be seen.
   */
  add(...values: readonly string[]): this {
    for (const value of values) {
      for (const secret of [value, value.trim()]) {
        const url = URL_SECRET.exec(secret);
        if (url === null) this.#add(secret, REDACTED);
        else this.#addUrl(secret, url);
        // Logs and stderr are read line by line; a private key has many lines.
        if (secret.includes("\n")) this.#addLines(secret);
      }
    }
    return this;
  }

  #add(secret: string, shown: string): void {
    if ([...secret].length < MIN_SECRET_LENGTH || this.#secrets.has(secret)) return;
    this.#secrets.set(secret, shown);
    this.#patterns = undefined;
  }

  #addLines(secret: string): void {
    for (const line of secret.split(/\r?\n/).map((each) => each.trim()))
      if (line.length >= MIN_LINE_LENGTH && !line.startsWith("-----")) this.#add(line, REDACTED);
  }

  #addUrl(secret: string, [, scheme = "", userInfo = "", host = "", rest = ""]: RegExpExecArray): void {
    for (const part of secretsInUrl(secret)) this.#add(part, REDACTED);
    if (userInfo !== "") this.#add(`//${userInfo}`, `//${REDACTED}@`);
    if (userInfo === "" && /^[\\/]?$/.test(rest)) return;
    this.#add(secret, `${scheme}//${host}/${REDACTED}`);
    // Errors quote a URL as the parser writes it.
    if (URL.canParse(secret)) this.#add(new URL(secret).href, `${scheme}//${host}/${REDACTED}`);
  }

  get size(): number {
    return this.#secrets.size;
  }

  /** Redacts all known secrets in a text. */
  text(text: string): string {
    if (this.#secrets.size === 0) return text;
    this.#patterns ??= compile(this.#secrets);
    const { pattern, shown } = this.#patterns;
    return text.replace(pattern, (form) => shown.get(form) ?? REDACTED);
  }

  /** Copies a JSON-like value, with every string, including keys, passed through {@link text}. */
  value<T>(value: T): T {
    return this.#secrets.size === 0 ? value : (this.#deep(value, new WeakMap()) as T);
  }

  #deep(value: unknown, seen: WeakMap<object, unknown>): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value !== "object" || value === null) return value;
    const known = seen.get(value);
    if (known !== undefined) return known;
    if (Array.isArray(value)) {
      const copy: unknown[] = [];
      seen.set(value, copy);
      for (const item of value) copy.push(this.#deep(item, seen));
      return copy;
    }
    if (Object.getPrototypeOf(value) !== Object.prototype && Object.getPrototypeOf(value) !== null) return value;
    const copy: Record<string, unknown> = {};
    seen.set(value, copy);
    for (const [key, item] of Object.entries(value)) copy[this.text(key)] = this.#deep(item, seen);
    return copy;
  }
}

/** Lists the forms in which a secret can appear: plain, URL-encoded, JSON-escaped, and inside base64 at any offset. */
export function secretForms(secret: string): string[] {
  return [...plainForms(secret), ...base64Forms(secret)];
}

function plainForms(secret: string): string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  const encoded = encodeURIComponent(secret);
  const nested = JSON.stringify(escaped).slice(1, -1);
  const hex = Buffer.from(secret, "utf8").toString("hex");
  return [
    ...[secret, encoded, encoded.replaceAll("%20", "+"), encodeURI(secret), encodeURIComponent(encoded)],
    // PHP escapes slashes too.
    ...[escaped, nested, escaped.replaceAll("/", "\\/")],
    ...[hex, hex.toUpperCase()],
    secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
  ];
}

/**
 * Text before the secret ("user:secret" in basic auth) shifts base64 by 0, 1 or 2 bytes. The characters that only
 * depend on the secret's bytes are the same whatever surrounds it.
 */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret, "utf8");
  return [0, 1, 2].flatMap((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64");
    const from = shift === 0 ? 0 : shift + 1;
    const core = encoded.slice(from, Math.floor(((shift + bytes.length) * 8) / 6));
    return core.length < MIN_SECRET_LENGTH ? [] : [core, core.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

/** A URL: its scheme, user and password with the "@", host, and the rest. */
const URL_SECRET = /^([a-z][a-z\d+.-]*:)[\\/]{2}([^\\/?#@\s]*@)?([^\\/?#@\s]+)([\\/?#]\S*)?$/i;

interface Patterns {
  readonly pattern: RegExp;
  /** What replaces a form, unless it is {@link REDACTED}. */
  readonly shown: ReadonlyMap<string, string>;
}

function compile(secrets: ReadonlyMap<string, string>): Patterns {
  const sources = new Map<string, string>();
  const shown = new Map<string, string>();
  for (const [secret, replacement] of secrets) {
    for (const form of plainForms(secret)) {
      sources.set(form, escapedSource(form));
      if (replacement !== REDACTED) shown.set(form, replacement);
    }
    // The next character holds the secret's last bits, so it is removed too, along with the padding.
    for (const form of base64Forms(secret))
      if (!sources.has(form)) sources.set(form, `${escapedSource(form)}[\\w+/-]?={0,2}`);
  }
  // Longest first, so a secret that contains another one is replaced completely.
  const longestFirst = [...sources].filter(([form]) => form !== "").sort(([a], [b]) => b.length - a.length);
  return { pattern: new RegExp(longestFirst.map(([, source]) => source).join("|"), "g"), shown };
}

/** Escapes a text for a regular expression; percent escapes are case-insensitive. */
function escapedSource(form: string): string {
  return form
    .replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")
    .replace(/%([0-9A-F]{2})/g, (_, hex: string) => `%(?:${hex}|${hex.toLowerCase()})`);
}
