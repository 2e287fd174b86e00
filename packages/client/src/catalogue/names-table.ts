// The table of all tool names in use: the name of each pair in each style, and the pair for a given name.

import {
  dottedName,
  hashedName,
  NAME_STYLES,
  type NameStyle,
  needsHash,
  pairId,
  plainName,
  type ToolKey,
} from "@trunkline/config";
import { byCodeUnit, isGlob, matchesGlob, nearestNames, TrunklineError, typingDistance } from "@trunkline/core";

/** A name that differs from what its style's rule alone would give. */
export interface RenamedTool extends ToolKey {
  readonly style: NameStyle;
  /** The name the rule alone gives. */
  readonly plain: string;
  /** The name in use. */
  readonly name: string;
  /** `collision`: other tools would have the same name; `length`: over 64 characters; `empty`: only symbols. */
  readonly reason: "collision" | "length" | "empty";
  /** The dotted names of the tools it would collide with, sorted; at most ten. */
  readonly collidesWith: readonly string[];
}

interface ResolveOptions {
  /** Match the name exactly and only in this style: for names that a program received earlier. Default: any style. */
  style?: NameStyle;
}

/** The names of one style. Names are unique in every style except dotted, which leaves both parts unchanged. */
interface StyleTable<T> {
  readonly nameOf: ReadonlyMap<string, string>;
  readonly toolsOf: ReadonlyMap<string, readonly T[]>;
  /** Renamed tools, by the name the rule alone gives. */
  readonly renamedOf: ReadonlyMap<string, readonly T[]>;
}

const LISTED_CANDIDATES = 10;
const SUGGESTIONS = 3;

/**
 * The names of a set of tools. They depend only on the set: neither discovery order nor duplicates make a difference.
 * Immutable; a changed catalogue gets a new table.
 */
export class ToolNames<T extends ToolKey = ToolKey> {
  readonly #tools: ReadonlyMap<string, T>;
  /** The tools of servers that are not connected, by every name they have. */
  readonly #away: ReadonlyMap<string, readonly ToolKey[]>;
  readonly #styles: ReadonlyMap<NameStyle, StyleTable<T>>;
  readonly #renamed: readonly RenamedTool[];
  /** All tools by their words, also those of servers that are not connected. Built on first use. */
  #spellings: ReadonlyMap<string, readonly ToolKey[]> | undefined;
  readonly #all: ReadonlyMap<string, ToolKey>;

  /** `away` are the tools of servers that are not connected: a name they share with another tool is as ambiguous. */
  constructor(tools: Iterable<T>, away: Iterable<ToolKey> = []) {
    const byId = new Map<string, T>();
    for (const tool of tools) {
      const id = pairId(tool);
      if (!byId.has(id)) byId.set(id, tool);
    }
    const all = new Map<string, ToolKey>(byId);
    for (const tool of away) if (!all.has(pairId(tool))) all.set(pairId(tool), tool);
    const awayOf = new Map<string, ToolKey[]>();
    const styles = new Map<NameStyle, StyleTable<T>>();
    const renamed: RenamedTool[] = [];
    for (const style of NAME_STYLES) {
      const names = style === "dotted" ? dottedNames(all) : distinctNames(style, all);
      const toolsOf = new Map<string, T[]>();
      const renamedOf = new Map<string, T[]>();
      for (const [id, key] of all) {
        const entry = names.get(id) as NameEntry; // distinctNames returns an entry for every id
        const tool = byId.get(id);
        if (tool === undefined) {
          for (const name of new Set([entry.name, entry.plain])) push(awayOf, name, key);
          continue;
        }
        push(toolsOf, entry.name, tool);
        if (entry.reason === undefined) continue;
        push(renamedOf, entry.plain, tool);
        renamed.push({
          server: tool.server,
          tool: tool.tool,
          style,
          plain: entry.plain,
          name: entry.name,
          reason: entry.reason,
          collidesWith: entry.rivals
            .filter((rival) => rival !== id)
            .slice(0, LISTED_CANDIDATES)
            .map((rival) => dottedName(all.get(rival) as ToolKey))
            .sort(byCodeUnit),
        });
      }
      styles.set(style, { nameOf: new Map([...names].map(([id, { name }]) => [id, name])), toolsOf, renamedOf });
    }
    this.#tools = byId;
    this.#all = all;
    this.#away = awayOf;
    this.#styles = styles;
    this.#renamed = renamed.sort((a, b) => byCodeUnit(dottedName(a), dottedName(b)) || byCodeUnit(a.style, b.style));
  }

  /** The tools of the table, each once, in the order they were given. */
  tools(): readonly T[] {
    return [...this.#tools.values()];
  }

  get size(): number {
    return this.#tools.size;
  }

  /** The tool for a pair, if any. */
  get(key: ToolKey): T | undefined {
    return this.#tools.get(pairId(key));
  }

  /** The name of a tool in a style. A pair that is not in the table is `TOOL_NOT_FOUND`. */
  name(key: ToolKey, style: NameStyle): string {
    const name = this.#style(style).nameOf.get(pairId(key));
    if (name === undefined) throw this.#notFound(dottedName(key), "dotted");
    return name;
  }

  /** The names of all tools in a style, sorted, without those of servers that are not connected. */
  names(style: NameStyle): string[] {
    return [...this.#tools.values()].map((tool) => this.name(tool, style)).sort(byCodeUnit);
  }

  /** Every name that differs from what its style's rule alone would give, sorted by tool and style. */
  renamed(): readonly RenamedTool[] {
    return this.#renamed;
  }

  /**
   * Finds the tool that a name refers to: in any style, as a URI, or as a glob that matches one tool. If nothing has
   * that name, one with other separators counts, because agents rewrite names. Several matches are
   * `AMBIGUOUS`, with the candidates; no match is `TOOL_NOT_FOUND`, with suggestions. A tool name without its server is
   * only suggested, never resolved, because its meaning could change when a server is added.
   */
  resolve(name: string, options: ResolveOptions = {}): T {
    const [tool, ...more] = this.#lookUp(name, options.style);
    if (tool === undefined) {
      const [spelled, ...others] = options.style === undefined && !isGlob(name) ? this.spelled(name) : [];
      if (spelled !== undefined && others.length > 0) throw this.#ambiguous(name, [spelled, ...others]);
      const found = spelled && this.get(spelled);
      if (found === undefined) throw this.#notFound(name, options.style);
      return found;
    }
    const others: readonly ToolKey[] = [...more, ...this.#rivalsAway(name, tool, options.style)];
    if (others.length > 0) throw this.#ambiguous(name, [tool, ...others]);
    return tool;
  }

  /** The tool with this dotted name; undefined if there is none or if several share the name. */
  dotted(name: string): T | undefined {
    const [tool, ...more] = this.#style("dotted").toolsOf.get(name) ?? [];
    return more.length > 0 || this.#away.has(name) ? undefined : tool;
  }

  /**
   * Finds every tool that a glob matches, at least one; anything else is looked up as in {@link resolve}. Globs are
   * matched against dotted names, those starting with `mcp__` also against prefixed names, and those starting with
   * `mcp://` against URIs.
   */
  match(pattern: string): readonly T[] {
    const tools = this.#lookUp(pattern, undefined);
    if (tools.length > 1 && (!isGlob(pattern) || this.named(pattern).length > 0)) throw this.#ambiguous(pattern, tools);
    if (tools.length === 0) throw this.#notFound(pattern, undefined);
    return tools;
  }

  /** Tools of servers that are not connected with the same name. Names other than dotted ones are unique in their style. */
  #rivalsAway(name: string, tool: T, style: NameStyle | undefined): readonly ToolKey[] {
    if (style !== undefined && style !== "dotted") return [];
    const rivals = new Map((this.#away.get(name) ?? []).map((key) => [pairId(key), key]));
    rivals.delete(pairId(tool));
    return [...rivals.values()];
  }

  #lookUp(name: string, style: NameStyle | undefined): readonly T[] {
    if (style !== undefined) return this.#style(style).toolsOf.get(name) ?? [];
    // A tool name may contain a star, so exact matches come before globs.
    const named = this.named(name);
    return named.length === 0 && isGlob(name) ? this.#globbed(name) : named;
  }

  /** Finds the tools with this name in some style, or else those that would have it if they had not been renamed. */
  named(name: string): readonly T[] {
    for (const map of ["toolsOf", "renamedOf"] as const) {
      const found = new Set([...this.#styles.values()].flatMap((table) => table[map].get(name) ?? []));
      if (found.size > 0) return [...found];
    }
    return [];
  }

  /** Finds the tools whose server and tool are spelled like this, whatever separates their words. */
  spelled(name: string): readonly ToolKey[] {
    if (this.#spellings === undefined) {
      const spellings = new Map<string, ToolKey[]>();
      for (const key of this.#all.values()) {
        const [server, tool] = [underscoredWords(key.server), underscoredWords(key.tool)];
        // Symbols alone are no spelling: `+` is not `-`.
        if (server !== "" && tool !== "") push(spellings, `${server}_${tool}`, key);
      }
      this.#spellings = spellings;
    }
    const wanted = underscoredWords(name);
    return this.#spellings.get(wanted) ?? this.#spellings.get(wanted.replace(/^mcp_/, "")) ?? [];
  }

  #globbed(pattern: string): readonly T[] {
    const styles: NameStyle[] = ["dotted"];
    if (pattern.startsWith("mcp__")) styles.push("prefixed");
    if (pattern.startsWith("mcp://")) styles.push("uri");
    return [...this.#tools.values()].filter((tool) =>
      styles.some((style) => matchesGlob(pattern, this.name(tool, style))),
    );
  }

  #style(style: NameStyle): StyleTable<T> {
    return this.#styles.get(style) as StyleTable<T>; // the constructor fills in every style
  }

  /** A name that {@link resolve} understands: dotted if that is unambiguous. */
  address(tool: ToolKey): string {
    const styles = ["dotted", "prefixed", "wire", "uri", "hyphenated"] as const;
    const style = styles.find((candidate) => {
      const name = this.name(tool, candidate);
      return this.named(name).length + (this.#away.get(name)?.length ?? 0) === 1;
    });
    return this.name(tool, style ?? "prefixed");
  }

  #ambiguous(name: string, tools: readonly ToolKey[]): TrunklineError {
    const candidates = tools.map((tool) => this.address(tool)).sort(byCodeUnit);
    const listed = candidates.slice(0, LISTED_CANDIDATES).join(", ");
    const more = candidates.length - LISTED_CANDIDATES;
    return new TrunklineError(
      "AMBIGUOUS",
      `${quoted(name)} matches ${tools.length} tools: ${listed}${more > 0 ? ` and ${more} more` : ""}.`,
      { hint: "Use one of the listed names.", data: { candidates } },
    );
  }

  #notFound(name: string, style: NameStyle | undefined): TrunklineError {
    const glob = style === undefined && isGlob(name);
    const near = glob ? this.#nearestGlobs(name) : this.#nearest(name, style ?? "dotted");
    const message = glob ? `No tool matches ${quoted(name)}.` : `No tool is named ${quoted(name)}.`;
    return new TrunklineError("TOOL_NOT_FOUND", message, {
      hint: near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "Run `trunkline tools` to list the tools.",
      data: { near },
    });
  }

  /** Suggestions in the given style: first tools with exactly this name on any server, then similar names. */
  #nearest(name: string, style: NameStyle): string[] {
    const given = withoutScheme(name);
    return [...this.#tools.values()]
      .map((tool) => {
        const spellings = [tool.tool, ...NAME_STYLES.map((each) => withoutScheme(this.name(tool, each)))];
        return { tool, distance: Math.min(...spellings.map((spelling) => typingDistance(given, spelling))) };
      })
      .filter(({ distance }) => distance < Number.POSITIVE_INFINITY)
      .sort((a, b) => a.distance - b.distance || byCodeUnit(dottedName(a.tool), dottedName(b.tool)))
      .slice(0, SUGGESTIONS)
      .map(({ tool }) => (style === "dotted" ? this.address(tool) : this.name(tool, style)));
  }

  #nearestGlobs(pattern: string): string[] {
    const servers = new Set([...this.#tools.values()].map(({ server }) => `${server}.*`));
    return nearestNames(pattern, [...servers], SUGGESTIONS);
  }
}

interface NameEntry {
  readonly plain: string;
  name: string;
  /** 0 for the plain name, otherwise the step of {@link hashedName}. */
  step: number;
  reason: RenamedTool["reason"] | undefined;
  /**
   * IDs of the first few pairs that shared the name, possibly including this one. All of them share one list, because
   * there may be thousands.
   */
  rivals: readonly string[];
}

function dottedNames(tools: ReadonlyMap<string, ToolKey>): Map<string, NameEntry> {
  return new Map(
    [...tools].map(([id, tool]) => {
      const plain = dottedName(tool);
      return [id, { plain, name: plain, step: 0, reason: undefined, rivals: [] }];
    }),
  );
}

/**
 * Gives each pair a unique name. Among pairs that share a name, those with the fewest digits all get more at once, so
 * the order of the pairs does not matter. Tools with the same plain name all get a hash. A tool whose own name looks
 * like another tool's hashed name gets one too, while the other tool keeps its name.
 */
function distinctNames(style: NameStyle, tools: ReadonlyMap<string, ToolKey>): Map<string, NameEntry> {
  const entries = new Map<string, NameEntry>();
  for (const [id, tool] of tools) {
    const plain = plainName(style, tool);
    const reason = needsHash(style, plain);
    const step = reason === undefined ? 0 : 1;
    const name = step === 0 ? plain : hashedName(style, tool, step);
    entries.set(id, { plain, name, step, reason, rivals: [] });
  }
  for (let settled = false; !settled; ) {
    settled = true;
    const idsOf = new Map<string, string[]>();
    for (const [id, { name }] of entries) push(idsOf, name, id);
    for (const ids of idsOf.values()) {
      if (ids.length === 1) continue;
      settled = false;
      const rivals = ids.sort(byCodeUnit).slice(0, LISTED_CANDIDATES + 1);
      const sharing = ids.map((id) => ({ entry: entries.get(id) as NameEntry, tool: tools.get(id) as ToolKey }));
      const fewest = sharing.reduce((least, { entry }) => Math.min(least, entry.step), Number.POSITIVE_INFINITY);
      for (const { entry, tool } of sharing) {
        if (entry.step > fewest) continue;
        entry.step++;
        entry.name = hashedName(style, tool, entry.step);
        entry.reason ??= "collision";
        entry.rivals = rivals;
      }
    }
  }
  return entries;
}

/** The words of a name: its letters and digits, in any script, with one underscore for what separates them. */
export function underscoredWords(name: string): string {
  return name.replace(/[^\p{L}\p{M}\p{N}]+/gu, "_").replace(/^_|_$/g, "");
}

/** Strips the prefix that all names of a style share, because it would make them all look similar. */
function withoutScheme(name: string): string {
  return name.replace(/^mcp(?:__|:\/\/)/, "");
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}

/** Quotes a name, truncated if it would fill the screen. */
export function quoted(name: string): string {
  const characters = [...name.slice(0, 400)];
  return `"${characters.length > 100 ? `${characters.slice(0, 100).join("")}…` : name}"`;
}
