// References in parameters: text that refers to a value of an earlier step. Only the scope knows where the values come
// from.
import {
  firstChars,
  isRecord,
  LargeValue,
  type Narrowing,
  nearestNames,
  type PathReading,
  parsePath,
  readPath,
  type Segment,
  TrunklineError,
  wholeOf,
} from "@trunkline/core";

/** The start of a reference: a step, by position or name, or the item of `for_each`. */
export type ReferenceRoot =
  | { readonly kind: "prev" | "item" | "steps" }
  | { readonly kind: "name"; readonly name: string };

type Reference =
  | { readonly kind: "value"; readonly text: string; readonly root: ReferenceRoot; readonly path: readonly Segment[] }
  /** `$hash:`: the content with an id, which is given directly or by a reference. */
  | { readonly kind: "content"; readonly text: string; readonly id: string | Reference };

interface FoundRoot {
  readonly value: unknown;
  /** What is left of the path. */
  readonly rest: readonly Segment[];
  /** Why the step has no result: there is none, or it failed and has only its error. */
  readonly absence?: string;
  /** Whether the step was only described, by a dry run. */
  readonly isPending?: boolean;
}

/** Provides the values of references. */
export interface ReferenceScope {
  /** Whether an earlier step has this `as` name. */
  hasName(name: string): boolean;
  /** Whether a value of a step was read that was only described, by a dry run. */
  readonly isPending?: boolean;
  /**
   * Reads the value of a root and the first segments of its path, and returns it with the rest of the path; undefined
   * if there is no value.
   */
  read(root: ReferenceRoot, path: readonly Segment[], options: { forContent: boolean }): Promise<FoundRoot | undefined>;
  /** Reads the content with this id: UTF-8 as text, binary as base64. */
  content(id: string): Promise<string>;
}

/** Parameters with their references resolved. */
interface Resolved<T> {
  readonly value: T;
  /** One warning for each path that does not exist. */
  readonly warnings: readonly string[];
}

/** Which references have to resolve. By default none: those that do not are null. */
export interface ReferenceRules {
  /** Whether those in this parameter have to; `undefined` is the value as a whole. */
  readonly mustResolve: (parameter: string | undefined) => boolean;
  /** Whether the operation reads or changes more without this parameter: then nothing is no value for it. */
  readonly narrows: (parameter: string) => Narrowing;
  /** The names of all steps of the call, also of those that have not run. */
  readonly stepNames: ReadonlySet<string>;
  /** Whether any name is meant as a step's. Other programs have words with a dollar sign of their own. */
  readonly isOwn: boolean;
  /** Whether some items of a list may lack the value. */
  readonly allowsGaps?: boolean;
}

/** Names not allowed for `as`, because references start with them. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set(["prev", "item", "steps", "hash"]);

const ROOT = /^\$([A-Za-z_][A-Za-z0-9_-]*)/;
const HASH = "$hash:";
/** Longer than any real reference, so that malicious text is rejected early. */
const LONGEST_REFERENCE = 1_000;

/** Parses a whole text as a reference; undefined if it is ordinary text, or longer than a reference can be. */
export function parseReference(text: string, hasName: (name: string) => boolean): Reference | undefined {
  if (text.length > LONGEST_REFERENCE) return undefined;
  if (text.startsWith(HASH)) {
    const target = text.slice(HASH.length).trim();
    if (target === "") return undefined;
    if (!target.startsWith("$")) return { kind: "content", text, id: target };
    const id = parseReference(target, hasName);
    return id === undefined || id.kind === "content" ? undefined : { kind: "content", text, id };
  }
  const name = ROOT.exec(text)?.[1];
  if (name === undefined) return undefined;
  const path = parsePath(text.slice(name.length + 1));
  if (path === undefined) return undefined;
  const root = rootOf(name, path, hasName);
  return root === undefined ? undefined : { kind: "value", text, root, path };
}

function rootOf(name: string, path: readonly Segment[], hasName: (name: string) => boolean): ReferenceRoot | undefined {
  if (name === "prev" || name === "item") return { kind: name };
  if (name === "steps") return path.length > 0 && path[0]?.kind !== "field" ? { kind: "steps" } : undefined;
  return hasName(name) ? { kind: "name", name } : undefined;
}

/** Resolves references in parameters, at any depth. Keys are not changed. */
export async function resolveReferences<T>(
  params: T,
  scope: ReferenceScope,
  rules?: ReferenceRules,
): Promise<Resolved<T>> {
  if (!mayRefer(params)) return { value: params, warnings: [] };
  const warnings = new Set<string>();
  const value =
    rules !== undefined && isRecord(params)
      ? await resolveParameters(params, { scope, warnings, rules })
      : await resolveIn(params, { scope, warnings, rules: rules?.mustResolve(undefined) ? rules : undefined });
  return { value: value as T, warnings: [...warnings] };
}

async function resolveParameters(
  params: Readonly<Record<string, unknown>>,
  { scope, warnings, rules }: Resolving & { readonly rules: ReferenceRules },
): Promise<Readonly<Record<string, unknown>>> {
  const fields: [string, unknown][] = [];
  for (const [parameter, written] of Object.entries(params)) {
    const resolving = { scope, warnings, parameter, rules: rules.mustResolve(parameter) ? rules : undefined };
    const value = await resolveIn(written, resolving);
    if (mayRefer(written)) requireSomething(value, { written, resolving });
    fields.push([parameter, value]);
  }
  return Object.fromEntries(fields);
}

/** Throws if nothing would be a parameter, or a part of one, without which the operation reads or changes more. */
function requireSomething(
  value: unknown,
  { written, resolving }: { readonly written: unknown; readonly resolving: Resolving },
): void {
  const { rules, parameter, scope } = resolving;
  if (parameter === undefined || rules === undefined || scope.isPending === true) return;
  if (!isNothing(value) || rules.narrows(parameter) === false) return;
  const what = value === null ? "null" : "empty";
  throw unresolved(`${shortText(written)} is ${what}, so ${parameter} would match more than intended.`, {
    parameter,
    hint: `Check that the earlier step found something, or omit ${parameter} to do without it.`,
  });
}

/** Whether an operation takes a value for an omitted one. */
function isNothing(value: unknown): boolean {
  if (value === null || value === "") return true;
  if (Array.isArray(value)) return value.every(isNothing);
  return isRecord(value) && Object.keys(value).length === 0;
}

function shortText(written: unknown): string {
  const text = typeof written === "string" ? written : JSON.stringify(written);
  return firstChars(text, LONGEST_NAME);
}

const LITERAL_HINT = "Correct the reference. If you mean the text, start it with $$.";

function unresolved(
  message: string,
  { parameter, hint = LITERAL_HINT }: { parameter: string | undefined; hint?: string },
): TrunklineError {
  return new TrunklineError("REFERENCE_UNRESOLVED", `${message} The operation was not run.`, {
    hint,
    ...(parameter === undefined ? {} : { data: { parameter } }),
  });
}

/** Fast check: without a dollar sign there is no reference, and most parameters have none. */
export function mayRefer(value: unknown): boolean {
  if (typeof value === "string") return value.includes("$");
  if (Array.isArray(value)) return value.some(mayRefer);
  if (!isRecord(value)) return false;
  for (const key in value) if (mayRefer(value[key])) return true;
  return false;
}

/** Whether anything in the parameters is a reference. */
export function hasReferences(params: unknown, hasName: (name: string) => boolean): boolean {
  return mayRefer(params) && referencesIn(params, hasName).length > 0;
}

/** Lists the references in parameters, as written. */
export function referencesIn(params: unknown, hasName: (name: string) => boolean): string[] {
  if (typeof params === "string") {
    const whole = params.startsWith("$$") ? undefined : parseReference(params, hasName);
    if (whole !== undefined) return [whole.text];
    return embeddedIn(params, hasName).flatMap(({ reference }) => (reference === undefined ? [] : [reference.text]));
  }
  if (Array.isArray(params)) return params.flatMap((item) => referencesIn(item, hasName));
  return isRecord(params) ? Object.values(params).flatMap((item) => referencesIn(item, hasName)) : [];
}

interface Resolving {
  readonly scope: ReferenceScope;
  readonly warnings: Set<string>;
  /** Set if the references have to resolve. */
  readonly rules: ReferenceRules | undefined;
  readonly parameter?: string;
}

async function resolveIn(value: unknown, resolving: Resolving): Promise<unknown> {
  if (!mayRefer(value)) return value;
  if (typeof value === "string") return await resolveText(value, resolving);
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) items.push(await resolveIn(item, resolving));
    return items;
  }
  if (!isRecord(value)) return value;
  const fields: [string, unknown][] = [];
  for (const [key, field] of Object.entries(value)) fields.push([key, await resolveIn(field, resolving)]);
  return Object.fromEntries(fields);
}

async function resolveText(text: string, resolving: Resolving): Promise<unknown> {
  const hasName = (name: string) => isStep(name, resolving);
  if (text.startsWith("$$")) return await fillIn(text.slice(1), resolving);
  const reference = parseReference(text, hasName);
  if (reference !== undefined) return await valueBehind(reference, resolving);
  const { rules, parameter } = resolving;
  const isExcluding = parameter !== undefined && rules?.narrows(parameter) === "excludes";
  const mistake = rules === undefined ? undefined : mistakeIn(text, { rules, isExcluding });
  if (mistake !== undefined) throw unresolved(mistake, { parameter });
  const note = noteOnText(text, hasName);
  if (note !== undefined && isExcluding) throw unresolved(note, { parameter });
  if (note !== undefined) resolving.warnings.add(note);
  return await fillIn(text, resolving);
}

/** A step that has not run has no value, but its name is not an ordinary word. */
function isStep(name: string, { scope, rules }: Resolving): boolean {
  return scope.hasName(name) || rules?.stepNames.has(name) === true;
}

interface Judging {
  readonly rules: ReferenceRules;
  /** Whether a text that matches nothing would have the operation read or change more. */
  readonly isExcluding: boolean;
}

/** Explains why a text that can only be meant as a reference is not one; undefined for other texts. */
function mistakeIn(text: string, judging: Judging): string | undefined {
  if (text.length > LONGEST_NOTED) return undefined;
  const { stepNames, isOwn } = judging.rules;
  const target = text.startsWith(HASH) ? text.slice(HASH.length).trim() : text;
  const root = /\s/.test(target) ? undefined : NAMED.exec(target)?.[1];
  if (root === undefined) return mistakeInside(text, judging);
  const known = knownMistake(text, root, stepNames);
  if (known !== undefined) return known;
  // Without named steps, a word with a dollar sign is more likely a word: `$page.tsx` is a file.
  const isMeant = judging.isExcluding || (isOwn && stepNames.size > 0);
  const isReference = text !== target || (isMeant && parsePath(target.slice(root.length + 1)) !== undefined);
  return isReference ? `${text} looks like a reference, but no step has "as": "${root}".` : undefined;
}

/** What is wrong with a reference to a step that exists, or to one that is nearly spelled like it. */
function knownMistake(text: string, root: string, stepNames: ReadonlySet<string>): string | undefined {
  if (root === "steps") return `${text} does not exist: write $steps[0] for the first step.`;
  if (isRoot(root, (name) => stepNames.has(name))) {
    return `${text} does not exist: a path has only .field, [0], [0:3] and [*].`;
  }
  const [nearest] = nearestNames(root, [...stepNames]);
  if (nearest === undefined) return undefined;
  return `${text} does not exist: no step has "as": "${root}". Did you mean $${nearest}?`;
}

/** Braces around something else than a reference: other programs use them, too, but not with the names of steps. */
const BRACES = /\{\{\s{0,20}(\$([A-Za-z_][A-Za-z0-9_-]*)[^{}]{0,200})\}\}/g;

function mistakeInside(text: string, { rules, isExcluding }: Judging): string | undefined {
  const hasName = (name: string) => rules.stepNames.has(name);
  for (const [, inner = "", root = ""] of text.matchAll(BRACES)) {
    if (parseReference(inner.trim(), hasName) !== undefined) continue;
    const mistake = RESERVED_NAMES.has(root) ? undefined : knownMistake(inner.trim(), root, rules.stepNames);
    if (mistake !== undefined) return mistake;
    if (isExcluding) return `${inner.trim()} looks like a reference, but no step has "as": "${root}".`;
  }
  return undefined;
}

const SIGN = /\$(?:\{\s*)?([A-Za-z_][A-Za-z0-9_-]*)(?:\.[A-Za-z_][A-Za-z0-9_]*|\[[^\]\s]{1,20}\])*/g;
/** What looks like a reference to a step with a name: a field or an item of it. */
const NAMED = /^\$([A-Za-z_][A-Za-z0-9_-]*)(?:\.[A-Za-z_]|\[)/;
/** A text longer than this is a document, where a dollar sign means something else. */
const LONGEST_NOTED = 2_000;

/** Explains a text that looks as if it was meant to have a reference in it, but is used as it is. */
function noteOnText(text: string, hasName: (name: string) => boolean): string | undefined {
  if (text.length > LONGEST_NOTED) return undefined;
  const root = text.includes(" ") ? undefined : NAMED.exec(text)?.[1];
  if (root !== undefined && isRoot(root, hasName)) {
    return `${text} was used as text: a path has only .field, [0], [0:3] and [*].`;
  }
  if (root !== undefined && !RESERVED_NAMES.has(root)) {
    return `${text} was used as text: no earlier step has "as": "${root}".`;
  }
  for (const { 0: written, 1: name = "", index } of text.matchAll(SIGN)) {
    // `{{$…}}` is filled in, and `$$` stands for a dollar sign.
    if (/(?:\{\{\s*|\$)$/.test(text.slice(0, index)) || !isRoot(name, hasName)) continue;
    const path = written.replace(/^\$\{\s*/, "$");
    return `${path} inside a text was used as it is; {{${path}}} inserts the value.`;
  }
  return undefined;
}

function isRoot(name: string, hasName: (name: string) => boolean): boolean {
  return name === "prev" || name === "item" || hasName(name);
}

/** Fills in `{{$…}}`. If the text consists of a single reference, returns its value with its type. */
async function fillIn(text: string, resolving: Resolving): Promise<unknown> {
  if (!text.includes("{{")) return text;
  const found = embeddedIn(text, (name) => isStep(name, resolving));
  const [only] = found;
  if (only?.reference !== undefined && only.start === 0 && only.end === text.length) {
    return await valueBehind(only.reference, resolving);
  }
  let filled = "";
  let at = 0;
  for (const { start, end, reference, literal } of found) {
    filled += text.slice(at, start);
    filled += reference === undefined ? literal : await textBehind(reference, resolving);
    at = end;
  }
  return filled + text.slice(at);
}

async function textBehind(reference: Reference, resolving: Resolving): Promise<string> {
  const value = await valueBehind(reference, resolving);
  requireSomething(value, { written: reference.text, resolving });
  return asText(value);
}

interface Embedded {
  readonly start: number;
  readonly end: number;
  /** Undefined for `{{$$…}}`, which is the escape for `{{$…}}`. */
  readonly reference: Reference | undefined;
  readonly literal: string;
}

function embeddedIn(text: string, hasName: (name: string) => boolean): Embedded[] {
  const found: Embedded[] = [];
  for (let start = text.indexOf("{{"); start !== -1; ) {
    const end = endOfEmbedded(text, start + 2);
    const inner = end === undefined ? "" : text.slice(start + 2, end - 2).trim();
    const isLiteral = inner.startsWith("$$");
    const reference = isLiteral || !inner.startsWith("$") ? undefined : parseReference(inner, hasName);
    if (end !== undefined && (isLiteral || reference !== undefined)) {
      const literal = isLiteral ? text.slice(start, end).replace("$$", () => "$") : "";
      found.push({ start, end, reference, literal });
      start = text.indexOf("{{", end);
    } else {
      start = text.indexOf("{{", start + 1);
    }
  }
  return found;
}

/** Finds the end of the braces that opened before `start`; ignores braces in quoted keys. */
function endOfEmbedded(text: string, start: number): number | undefined {
  const last = Math.min(text.length, start + LONGEST_REFERENCE);
  let quote = "";
  for (let at = start; at < last; at++) {
    const char = text.charAt(at);
    if (quote !== "") {
      if (char === "\\" && quote === '"') at++;
      else if (char === quote) quote = "";
    } else if (char === '"' || char === "'") quote = char;
    else if (char === "{") return undefined;
    else if (char === "}") return text.charAt(at + 1) === "}" ? at + 2 : undefined;
  }
  return undefined;
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

async function valueBehind(reference: Reference, resolving: Resolving): Promise<unknown> {
  if (reference.kind === "content") return await contentOf(reference, resolving);
  return await readReference(reference, resolving, { forContent: false });
}

async function contentOf(reference: Reference & { kind: "content" }, resolving: Resolving): Promise<unknown> {
  const id =
    typeof reference.id === "string"
      ? reference.id
      : reference.id.kind === "content"
        ? null
        : await readReference(reference.id, resolving, { forContent: true });
  if (typeof id === "string") return await resolving.scope.content(id);
  const { rules, parameter, scope, warnings } = resolving;
  if (rules !== undefined && scope.isPending !== true) {
    throw unresolved(`${reference.text} is not a content id.`, { parameter });
  }
  if (id !== null) warnings.add(`${reference.text} is not a content id.`);
  return null;
}

async function readReference(
  reference: Reference & { kind: "value" },
  { scope, warnings, rules, parameter }: Resolving,
  options: { forContent: boolean },
): Promise<unknown> {
  const { text, root } = reference;
  const found = await scope.read(root, reference.path, options);
  const isAbsent = rules !== undefined && found?.absence !== undefined && found.rest.length === 0;
  const hasValue = found !== undefined && !isAbsent;
  const reading = hasValue ? await readIn(found.value, found.rest) : undefined;
  if (reading !== undefined && reading.missing === 0) return reading.value;
  const problem = problemWith(text, reading);
  const known = !hasValue || Array.isArray(reading?.value) ? "" : whatIsThere(reference, found);
  const isGap = rules?.allowsGaps === true && Array.isArray(reading?.value) && reading.value.length > reading.missing;
  if (rules !== undefined && found?.isPending !== true && !isGap) {
    throw unresolved(problem + whyNot(root, { scope, found, known }), { parameter });
  }
  warnings.add(`${problem.replace(/\.$/, "")}; null was used.${known}`);
  return reading === undefined ? null : reading.value;
}

/** Says more about a value that does not exist. */
function whyNot(
  root: ReferenceRoot,
  { scope, found, known }: { scope: ReferenceScope; found: FoundRoot | undefined; known: string },
): string {
  if (found?.absence !== undefined) return ` ${found.absence}`;
  return root.kind === "name" && !scope.hasName(root.name) ? ` The step "${root.name}" has not run yet.` : known;
}

/** Follows a path. Of a large value, only what the path leads to is built here. */
async function readIn(value: unknown, path: readonly Segment[]): Promise<PathReading> {
  if (!(value instanceof LargeValue)) return readPath(value, path);
  const reading = await value.read(path);
  return { value: await wholeOf(reading.value), missing: reading.missing };
}

const MOST_NAMED = 12;
const LONGEST_NAME = 60;

/** Says what is at the end of the part of the path that exists. Only looks into values on this thread. */
function whatIsThere(
  { text, path }: Reference & { kind: "value" },
  { value, rest }: { readonly value: unknown; readonly rest: readonly Segment[] },
): string {
  if (value instanceof LargeValue) return "";
  for (let length = rest.length - 1; length >= 0; length--) {
    const { value: parent, missing } = readPath(value, rest.slice(0, length));
    if (missing > 0) continue;
    const existing = path.slice(0, path.length - rest.length + length);
    const place = (ROOT.exec(text)?.[0] ?? "") + existing.map(asWritten).join("");
    if (Array.isArray(parent)) return ` ${place} is a list of ${parent.length}.`;
    if (!isRecord(parent)) return ` ${place} is ${typeof parent === "string" ? "text" : JSON.stringify(parent)}.`;
    const names = Object.keys(parent);
    const named = names.slice(0, MOST_NAMED).map((name) => name.slice(0, LONGEST_NAME));
    return names.length === 0 ? "" : ` ${place} has ${named.join(", ")}${names.length > MOST_NAMED ? ", …" : ""}.`;
  }
  return "";
}

function asWritten(segment: Segment): string {
  switch (segment.kind) {
    case "field":
      return `.${segment.name.slice(0, LONGEST_NAME)}`;
    case "index":
      return `[${segment.index}]`;
    case "slice":
      return `[${segment.start ?? ""}:${segment.end ?? ""}]`;
    case "map":
      return "[*]";
  }
}

function problemWith(text: string, reading: { value: unknown; missing: number } | undefined): string {
  if (reading !== undefined && Array.isArray(reading.value) && reading.value.length > 0) {
    return `${text} is missing in ${reading.missing} of ${reading.value.length} items.`;
  }
  return `${text} does not exist.`;
}
