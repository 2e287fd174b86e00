// Resolves the names in a file, as far as the file itself tells.

import { CALL_STEP, type GraphSymbol, type Reference, SUPER_STEP, type SymbolKind } from "../model/graph-model.js";
import type { Chain } from "./chains.js";
import type { LanguageRules } from "./language-rules.js";

/** What a name refers to within a frame. */
interface Binding {
  readonly frame: Frame;
  readonly symbol?: string;
  /** Steps between the symbol and the part after the name. */
  readonly steps?: Chain;
  readonly imported?: boolean;
  /** The declared type or, with `isValue`, the constant value. */
  chain?: Chain;
  readonly isValue?: boolean;
}

/** A range of source with its own names. */
export interface Frame {
  readonly parent: Frame | undefined;
  readonly end: number;
  /** The qualified name of its symbol; empty for the file. */
  readonly symbol: string;
  /** The class that `this` refers to here; undefined if there is none. */
  readonly self: string | undefined;
  readonly holdsMembers: boolean;
  readonly bindings: Map<string, Binding>;
  readonly depth: number;
}

const MAX_ALIASES = 8;

/** Everything known about the whole file when its names are looked up. */
export interface FileNames {
  readonly rules: Pick<LanguageRules, "selfNames" | "superNames" | "bareMembers">;
  readonly symbols: ReadonlyMap<string, GraphSymbol>;
  /** Imports that bind several names at once: `import a.b`. */
  readonly dottedImports: readonly { readonly names: readonly string[]; readonly local: string }[];
}

/** Resolves what the chain refers to in the frame. `asType`: it is written as a type, not as something called. */
export function resolveChain(
  chain: Chain,
  frame: Frame,
  names: FileNames,
  how: { readonly aliases?: number; readonly asType?: boolean } = {},
): Reference {
  const root = chain[0] ?? "";
  const rest = chain.slice(1);
  if (root === "" || root === CALL_STEP) return { root: "unknown", of: "", steps: rest };
  if (names.rules.selfNames.has(root)) {
    return frame.self === undefined
      ? { root: "unknown", of: "", steps: rest }
      : { root: "symbol", of: frame.self, steps: rest };
  }
  if (names.rules.superNames.has(root)) {
    return frame.self === undefined
      ? { root: "unknown", of: "", steps: rest }
      : { root: "symbol", of: frame.self, steps: [SUPER_STEP, ...rest] };
  }
  const dotted = dottedImport(chain, names);
  if (dotted !== undefined) return dotted;
  for (let current: Frame | undefined = frame; current !== undefined; current = current.parent) {
    if (current.holdsMembers && !names.rules.bareMembers && !isNamespace(current, names)) continue;
    const binding = current.bindings.get(root);
    if (binding === undefined) continue;
    if (binding.symbol !== undefined) {
      return { root: "symbol", of: binding.symbol, steps: [...(binding.steps ?? []), ...rest] };
    }
    if (binding.imported === true) return { root: "import", of: root, steps: rest };
    // Calling a value is not calling its type.
    const isCalled = how.asType !== true && (rest.length === 0 || rest[0] === CALL_STEP);
    if (isCalled && (binding.isValue !== true || binding.chain?.at(-1) === CALL_STEP)) {
      return { root: "unknown", of: "", steps: rest };
    }
    if (binding.chain !== undefined && (how.aliases ?? 0) < MAX_ALIASES && binding.chain[0] !== root) {
      return resolveChain([...binding.chain, ...rest], binding.frame, names, {
        ...how,
        aliases: (how.aliases ?? 0) + 1,
      });
    }
    return { root: "unknown", of: "", steps: rest };
  }
  // Members of a namespace or class can be written in another part of the file.
  if (names.rules.bareMembers) {
    for (
      let outer = frame.self ?? frame.symbol;
      outer !== "";
      outer = outer.slice(0, Math.max(outer.lastIndexOf("."), 0))
    ) {
      if (names.symbols.has(`${outer}.${root}`)) return { root: "symbol", of: `${outer}.${root}`, steps: rest };
    }
  }
  return { root: "global", of: root, steps: rest };
}

/** Whether the frame is a namespace, whose names are visible inside without a prefix. */
export function isNamespace(frame: Frame, names: Pick<FileNames, "symbols">): boolean {
  return names.symbols.get(frame.symbol)?.kind === "module";
}

/** Finds the import behind a dotted name: `import a.b` binds the name `a`, but makes `a.b` usable. */
function dottedImport(chain: Chain, names: FileNames): Reference | undefined {
  let best: { readonly names: readonly string[]; readonly local: string } | undefined;
  for (const entry of names.dottedImports) {
    if (entry.names.length > (best?.names.length ?? 0) && entry.names.every((name, index) => chain[index] === name)) {
      best = entry;
    }
  }
  return best === undefined ? undefined : { root: "import", of: best.local, steps: chain.slice(best.names.length) };
}

/** Follows the steps as far as this file goes. */
export function reduceReference(reference: Reference, symbols: ReadonlyMap<string, GraphSymbol>): Reference {
  let { root, of, steps } = reference;
  for (let round = 0; round < 32 && root === "symbol" && steps.length > 0; round++) {
    const symbol = symbols.get(of);
    const step = steps[0] ?? "";
    if (symbol === undefined || step === SUPER_STEP) break;
    const child = `${of}.${step}`;
    if (step !== CALL_STEP && symbols.has(child)) of = child;
    else if (step === CALL_STEP && isTypeKind(symbol.kind)) {
      // An instance has the members of its class.
    } else if (symbol.type !== undefined && (step === CALL_STEP) === isCallable(symbol.kind)) {
      const keep = step === CALL_STEP ? steps.slice(1) : steps;
      ({ root, of } = symbol.type);
      steps = [...symbol.type.steps, ...keep];
      continue;
    } else break;
    steps = steps.slice(1);
  }
  return { root, of, steps };
}
/** Whether a symbol kind is a type, so calling or creating it gives an instance. */
export function isTypeKind(kind: SymbolKind): boolean {
  return (
    kind === "class" ||
    kind === "struct" ||
    kind === "interface" ||
    kind === "trait" ||
    kind === "enum" ||
    kind === "type"
  );
}

/** Whether a symbol kind is callable, so its declared type is that of its result. */
export function isCallable(kind: SymbolKind): boolean {
  return kind === "function" || kind === "method" || kind === "macro";
}

const PRIMITIVES = new Set(
  "any bool boolean byte bytes char dict double error f32 f64 float i16 i32 i64 i8 int int16 int32 int64 int8 isize list long mixed never null number object rune set short size_t str string tuple u16 u32 u64 u8 uint uint16 uint32 uint64 uint8 undefined unknown unsigned usize var auto void None String".split(
    " ",
  ),
);

/** Whether a type is primitive, so no file can define its members. */
export function isPrimitive(type: Reference): boolean {
  return type.root === "global" && type.steps.length === 0 && PRIMITIVES.has(type.of);
}

/** Returns the chain as written in the source. */
export function spell(chain: Chain): string {
  let name = "";
  for (const step of chain) name += step === CALL_STEP ? step : name === "" ? step : `.${step}`;
  return name.slice(0, 200);
}
