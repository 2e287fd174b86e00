// `Buffer.from(text, "base64")` never fails: it skips invalid characters and returns the rest. This decoder does fail.

/** Decodes base64 text, in the standard or the URL alphabet, with or without padding and line breaks. */
export function decodeBase64(text: unknown): Buffer | undefined {
  if (typeof text !== "string") return undefined;
  const compact = /\s/.test(text) ? text.replace(/\s+/g, "") : text;
  // Padding, if any, must be correct; a single leftover character encodes no byte.
  const digits = compact.replace(/={1,2}$/, "");
  if (digits.length !== compact.length && compact.length % 4 !== 0) return undefined;
  if (digits.length % 4 === 1 || !/^[A-Za-z0-9+/_-]*$/.test(digits)) return undefined;
  return Buffer.from(digits, "base64");
}
