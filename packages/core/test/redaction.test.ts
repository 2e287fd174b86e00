import { describe, expect, it } from "vitest";
import { REDACTED, Redactor } from "../src/index.js";

const SECRET = 'p@ss w0rd/"+é';

describe("redaction by value", () => {
  const redactor = new Redactor().add(SECRET);

  it.each([
    ["as it is", SECRET],
    ["URL-encoded", encodeURIComponent(SECRET)],
    ["URL-encoded in lower case", encodeURIComponent(SECRET).replace(/%../g, (hex) => hex.toLowerCase())],
    ["form-encoded", encodeURIComponent(SECRET).replaceAll("%20", "+")],
    ["JSON-escaped", JSON.stringify(SECRET).slice(1, -1)],
    ["JSON inside JSON", JSON.stringify(JSON.stringify(SECRET))],
    ["JSON-escaped as by PHP", JSON.stringify(SECRET).slice(1, -1).replaceAll("/", "\\/")],
    ["URL-encoded twice", encodeURIComponent(encodeURIComponent(SECRET))],
    ["in HTML", SECRET.replaceAll('"', "&quot;")],
  ])("finds a secret %s", (_, form) => {
    const text = redactor.text(`before ${form} after`);
    expect(text).toContain(REDACTED);
    expect(text).not.toContain("w0rd");
  });

  it("finds a secret in hexadecimal digits", () => {
    const hex = Buffer.from(SECRET).toString("hex");
    expect(redactor.text(`<${hex}> <${hex.toUpperCase()}>`)).toBe(`<${REDACTED}> <${REDACTED}>`);
  });

  it("finds each line of a secret with several lines", () => {
    const key =
      "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n-----END PRIVATE KEY-----\n";
    const lines = new Redactor().add(key);
    expect(lines.text("error: MIIEvQIBADANBgkqhkiG9w0B")).toBe(`error: ${REDACTED}`);
    expect(lines.text("  AQEFAASCBKcwggSjAgEAAoIB")).toBe(`  ${REDACTED}`);
    expect(lines.text("-----BEGIN PRIVATE KEY-----")).toBe("-----BEGIN PRIVATE KEY-----");
  });

  it.each(["", "u", "us", "use", "user:"])("finds a secret in base64 after %j", (before) => {
    const secret = "correct-horse-battery";
    for (const encoding of ["base64", "base64url"] as const) {
      const encoded = Buffer.from(`${before}${secret}@host`).toString(encoding);
      const text = new Redactor().add(secret).text(`Authorization: Basic ${encoded}`);
      expect(text).toContain(REDACTED);
      // At most the two characters that the secret shares with its neighbours at each end may remain.
      const left = text.replace("Authorization: Basic ", "").replace(REDACTED, "");
      expect(left.length).toBeLessThanOrEqual(Math.ceil(((before.length + 5) * 8) / 6) + 4);
    }
  });

  it("removes the end of a base64 text too, including padding", () => {
    for (const secret of ["hunter2hunter2", "hunter2hunter", "hunter2hunter22"]) {
      expect(new Redactor().add(secret).text(Buffer.from(secret).toString("base64"))).toBe(REDACTED);
    }
  });

  it("leaves values of fewer than 6 characters alone in text", () => {
    expect(new Redactor().add("true", "12345").text("true 12345 123456")).toBe("true 12345 123456");
    expect(new Redactor().add("123456").text("x123456y")).toBe(`x${REDACTED}y`);
  });

  it("redacts the longer of two overlapping secrets completely", () => {
    expect(new Redactor().add("secret", "secret-and-more").text("[secret-and-more]")).toBe(`[${REDACTED}]`);
  });

  it("redacts every string of a value, including keys, and survives cycles", () => {
    const value: Record<string, unknown> = { list: [{ "the abcdef key": "abcdef" }], number: 1, none: null };
    value.self = value;
    const copy = new Redactor().add("abcdef").value(value);
    expect(copy.list).toEqual([{ [`the ${REDACTED} key`]: REDACTED }]);
    expect(copy.self).toBe(copy);
    expect(value.list).toEqual([{ "the abcdef key": "abcdef" }]);
  });

  it("matches special regular expression characters literally", () => {
    expect(new Redactor().add("a.b*c(d[e").text("a.b*c(d[e aXb*c(d[e")).toBe(`${REDACTED} aXb*c(d[e`);
  });
});

describe("redaction of long secrets", () => {
  /** A secret with characters that each encoding changes. */
  function secretOf(length: number, seed = ""): string {
    let text = seed;
    for (let at = 0; text.length < length; at++) text += `S3c/+ "${at}é&`;
    return text.slice(0, length - 1).concat("x");
  }

  /** The forms in which a secret is found, and what must not be left of them. */
  const formsOf = (secret: string) => [
    secret,
    encodeURIComponent(secret),
    encodeURIComponent(secret).replace(/%../g, (hex) => hex.toLowerCase()),
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(JSON.stringify(secret)).slice(3, -3),
    Buffer.from(secret).toString("hex"),
    Buffer.from(secret).toString("hex").toUpperCase(),
    Buffer.from(secret).toString("base64"),
    Buffer.from(secret).toString("base64url"),
  ];

  it.each([255, 256, 257, 1_000, 20_000, 1_000_000])("finds all of a secret of %i characters", (length) => {
    const secret = secretOf(length);
    const redactor = new Redactor().add(secret);
    for (const form of formsOf(secret)) {
      const shown = redactor.text(`before ${form} after`);
      expect(shown.length).toBeLessThan(100);
      expect(shown).toBe(`before ${REDACTED} after`);
    }
  });

  it("finds each of 1,000 secrets of 1,000 characters", () => {
    const secrets = Array.from({ length: 1_000 }, (_, at) => secretOf(1_000, `${at}:`));
    const redactor = new Redactor().add(...secrets);
    const shown = secrets.flatMap(formsOf).filter((form) => redactor.text(`<${form}>`) !== `<${REDACTED}>`);
    expect(shown).toHaveLength(0);
  });

  it("finds a part of a long secret too, because texts are cut", () => {
    const secret = secretOf(20_000);
    const redactor = new Redactor().add(secret);
    const shown = redactor.text(`before ${secret.slice(0, 10_000)}`);
    expect(shown.length).toBeLessThan(300);
    expect(shown).toMatch(/^before <redacted>/);
  });

  it("keeps the host of a long URL", () => {
    const url = `https://x.example/${"a1/".repeat(10_000)}`;
    expect(new Redactor().add(url).text(`at ${url} now`)).toBe("at https://x.example/<redacted> now");
  });

  it("finds secrets that overlap, completely", () => {
    const redactor = new Redactor().add("abcdefgh", "efghijkl");
    expect(redactor.text("[abcdefghijkl]")).toBe(`[${REDACTED}]`);
  });

  it("takes a secret that is not well-formed Unicode", () => {
    const secret = "\ud800hunter2hunter2";
    expect(new Redactor().add(secret).text(`[${secret}] ${JSON.stringify(secret)}`)).toBe(
      `[${REDACTED}] "${REDACTED}"`,
    );
  });

  it("finds hexadecimal digits after a percent sign", () => {
    expect(new Redactor().add("2fabcdef90").text("100%2fabcdef90")).toBe(`100%${REDACTED}`);
  });
});
