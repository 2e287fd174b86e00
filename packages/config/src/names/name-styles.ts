// Tool names, one pair at a time. The key is always the pair (server, tool). A rendered name is derived from it and
// looked up in a table (names-table.ts), never parsed, because both parts may contain any separator.
import { createHash } from "node:crypto";

/** The pair that identifies a tool. */
export interface ToolKey {
  readonly server: string;
  readonly tool: string;
}

/** The ways to write a pair as one name. */
export const NAME_STYLES = ["dotted", "prefixed", "hyphenated", "uri", "wire"] as const;

export type NameStyle = (typeof NAME_STYLES)[number];

/** Model providers reject a whole request if one tool name is longer than this. */
const MAX_NAME_LENGTH = 64;

const PREFIX = "mcp__";
const HASH_DIGITS = 8;

/** `docs.lookup`: both names unchanged. For the command line and for pipelines. */
export function dottedName(key: ToolKey): string {
  return `${key.server}.${key.tool}`;
}

/** `mcp__docs__lookup`. At most 64 characters: a longer one is cut and ends in a hash of the pair. */
export function prefixedName(key: ToolKey): string {
  return fittedName("prefixed", key);
}

/** `filesystem-read-file`. At most 64 characters, as in {@link prefixedName}. */
export function hyphenatedName(key: ToolKey): string {
  return fittedName("hyphenated", key);
}

/** `mcp://filesystem/read-file`: shows where a tool comes from. Unlimited length. */
export function uriName(key: ToolKey): string {
  return fittedName("uri", key);
}

/** `docs_lookup`: the name sent to a model. It always matches `^[A-Za-z0-9_-]{1,64}$`. */
export function wireName(key: ToolKey): string {
  return fittedName("wire", key);
}

/** The prefixed name of a tool. If tools collide, only the table of all tools knows the name in use. */
export function buildToolName(server: string, tool: string): string {
  return prefixedName({ server, tool });
}

/** The prefix of a server's prefixed tool names: `mcp__docs__`. */
export function toolNamePrefix(server: string): string {
  return `${PREFIX}${underscored(server)}__`;
}

/**
 * Turns any text into 1 to 64 characters of `A-Za-z0-9_-`. A text that had to be cut ends in a hash of the full text.
 */
export function normalizeName(name: string): string {
  const plain = underscored(name);
  if (plain.length <= MAX_NAME_LENGTH) return plain === "" ? "_" : plain;
  return `${plain.slice(0, MAX_NAME_LENGTH - HASH_DIGITS - 1)}_${sha256(name).slice(0, HASH_DIGITS)}`;
}

/**
 * Splits a prefixed name at the first `__` after its prefix; null if the prefix, the server or the tool is missing.
 * Only for names of unknown origin: it is wrong for a server whose name contains `__`, so the hub looks names up
 * instead.
 */
export function parseToolName(name: string): ToolKey | null {
  if (!name.startsWith(PREFIX)) return null;
  const rest = name.slice(PREFIX.length);
  const split = rest.indexOf("__");
  if (split <= 0 || split + 2 === rest.length) return null;
  return { server: rest.slice(0, split), tool: rest.slice(split + 2) };
}

/** Returns a unique string for each pair. */
export function pairId(key: ToolKey): string {
  return JSON.stringify([key.server, key.tool]);
}

/** The name that the style's rule gives the pair, before collisions and length are considered. It may be empty. */
export function plainName(style: NameStyle, key: ToolKey): string {
  switch (style) {
    case "dotted":
      return dottedName(key);
    case "prefixed":
      return toolNamePrefix(key.server) + underscored(key.tool);
    case "hyphenated":
      return hyphenated(dottedName(key));
    case "uri":
      return `mcp://${uriPart(key.server)}/${uriPart(key.tool)}`;
    case "wire":
      return `${underscored(key.server)}_${underscored(key.tool)}`;
  }
}

/**
 * The start of the plain name plus part of the SHA-256 of the pair. Step 1 has 8 digits; each further step adds 8, for
 * pairs with the same start and the same digits.
 */
export function hashedName(style: NameStyle, key: ToolKey, step = 1): string {
  const digits = sha256(pairId(key)).slice(0, HASH_DIGITS * step);
  const plain = plainName(style, key);
  const head = hasMaxLength(style) ? plain.slice(0, MAX_NAME_LENGTH - digits.length - 1) : plain;
  if (style === "prefixed" || style === "wire") return `${head}_${digits}`;
  return [head.replace(/-+$/, ""), digits].filter((part) => part !== "").join("-");
}

/** Whether the plain name is unusable even without any other tools. */
export function needsHash(style: NameStyle, plain: string): "length" | "empty" | undefined {
  if (plain === "") return "empty";
  return hasMaxLength(style) && plain.length > MAX_NAME_LENGTH ? "length" : undefined;
}

function fittedName(style: NameStyle, key: ToolKey): string {
  const plain = plainName(style, key);
  return needsHash(style, plain) === undefined ? plain : hashedName(style, key);
}

function hasMaxLength(style: NameStyle): boolean {
  return style === "prefixed" || style === "hyphenated" || style === "wire";
}

function underscored(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/gu, "_");
}

function hyphenated(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}

/** A part made only of symbols would leave a URI without a server or a tool. */
function uriPart(text: string): string {
  return hyphenated(text) || sha256(text).slice(0, HASH_DIGITS);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Whether a name, in any style, could belong to a tool of this server. False positives are fine: the table decides. */
export function mayBelongTo(name: string, server: string): boolean {
  const owner = bareName(server);
  return bareName(name).startsWith(owner) || bareName(name).startsWith(`mcp${owner}`);
}

/**
 * The servers whose tool a dotted name can be, the longest name first: more than one if the name of a server starts with
 * another's and a dot.
 */
export function ownersOf(dotted: string, servers: readonly string[]): string[] {
  return servers.filter((server) => dotted.startsWith(`${server}.`)).sort((a, b) => b.length - a.length);
}

/**
 * Takes off what agents put before the tools of their server `trunkline`: `mcp__trunkline__docs_lookup` is
 * `docs_lookup`.
 */
export function withoutGatewayPrefix(name: string): string {
  return name.replace(/^(?:mcp[_-]{1,2})?trunkline(?:_{1,2}|[.:/-])/i, "");
}

/** Letters and digits only: names that are written the same in some style have the same bare name. */
export function bareName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}
