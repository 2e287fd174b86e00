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
