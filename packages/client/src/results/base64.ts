// `Buffer.from(text, "base64")` never fails: it passes over what is not base64 and returns what is left. Here it does.

/** The bytes of base64 text, in the standard or the URL alphabet, padded or not, with or without line breaks. */
export function decodeBase64(text: unknown): Buffer | undefined {
  if (typeof text !== "string") return undefined;
  const compact = /\s/.test(text) ? text.replace(/\s+/g, "") : text;
  // Padding, where there is any, has to be right; a single character left over stands for no byte.
  const digits = compact.replace(/={1,2}$/, "");
  if (digits.length !== compact.length && compact.length % 4 !== 0) return undefined;
  if (digits.length % 4 === 1 || !/^[A-Za-z0-9+/_-]*$/.test(digits)) return undefined;
  return Buffer.from(digits, "base64");
}
