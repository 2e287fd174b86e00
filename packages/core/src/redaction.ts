// Redaction by value: secrets are known by their source (a header, an environment variable, an input), not by their
// shape. Every known secret is replaced in every string that leaves the program, including its encoded forms.
import { REDACTED, secretsInUrl } from "./literal-secrets.js";
import { type Form, FormIndex, type Found } from "./secret-index.js";

/** Shorter values are not redacted in free text: replacing "1" or "true" everywhere would make it unreadable. */
export const MIN_SECRET_LENGTH = 6;

/** Shorter lines of a secret with several lines can be anything. */
const MIN_LINE_LENGTH = 16;

/** Holds a set of secrets and removes them from text and structured values. */
export class Redactor {
  /** Each secret, with the text that replaces it. */
  readonly #secrets = new Map<string, string>();
  #indexes: Indexes | undefined;

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
    this.#indexes = undefined;
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

  /** Redacts all known secrets in a text, or all of it if that fails. Of a long secret, a long part is redacted too. */
  text(text: string): string {
    if (this.#secrets.size === 0) return text;
    try {
      return this.#withoutSecrets(text);
    } catch {
      // The limits of the engine. Its message could quote a secret, and an error's own text comes through here.
      return REDACTED;
    }
  }

  #withoutSecrets(text: string): string {
    this.#indexes ??= indexesOf(this.#secrets);
    const { exact, escaped } = this.#indexes;
    const inEscapes = escaped !== undefined && text.includes("%") ? escaped.find(upperEscapes(text)) : [];
    const found = [...exact.find(text), ...inEscapes];
    return found.length === 0 ? text : withoutFound(text, found);
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

function plainForms(secret: string): string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  // Half a surrogate pair, as JSON can contain it, cannot be URL-encoded.
  const whole = secret.replace(/\p{Surrogate}/gu, "\ufffd");
  const encoded = encodeURIComponent(whole);
  const nested = JSON.stringify(escaped).slice(1, -1);
  const hex = Buffer.from(secret, "utf8").toString("hex");
  return [
    ...[secret, encoded, encoded.replaceAll("%20", "+"), encodeURI(whole), encodeURIComponent(encoded)],
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

interface Indexes {
  readonly exact: FormIndex;
  /** The forms with percent escapes, all in upper case: an escape can have either. */
  readonly escaped: FormIndex | undefined;
}

function indexesOf(secrets: ReadonlyMap<string, string>): Indexes {
  const forms = new Map<string, Form>();
  for (const [secret, shown] of secrets) {
    for (const text of plainForms(secret))
      if (shown !== REDACTED || forms.get(text)?.isBase64 !== false) forms.set(text, { text, shown, isBase64: false });
    for (const text of base64Forms(secret))
      if (!forms.has(text)) forms.set(text, { text, shown: REDACTED, isBase64: true });
  }
  const escaped = [...forms.values()]
    .filter(({ text }) => PERCENT_ESCAPE.test(text))
    .map((form) => ({ ...form, text: upperEscapes(form.text) }));
  return { exact: new FormIndex(forms.values()), escaped: escaped.length === 0 ? undefined : new FormIndex(escaped) };
}

const PERCENT_ESCAPE = /%[\da-f]{2}/i;
const PERCENT_ESCAPES = new RegExp(PERCENT_ESCAPE, "gi");

function upperEscapes(text: string): string {
  return text.replace(PERCENT_ESCAPES, (each) => each.toUpperCase());
}

/** Secrets that overlap become one; what is shown is that of the first, and of the longest that begin together. */
function withoutFound(text: string, found: readonly Found[]): string {
  let shown = "";
  let done = 0;
  for (const { start, end, form } of found.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (start >= done) shown += text.slice(done, start) + form.shown;
    done = Math.max(done, end);
  }
  return shown + text.slice(done);
}
