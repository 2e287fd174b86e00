// Judges a change of a definition: what may be offered at once, and what waits for the user. Pure; bench/pins measures
// it on labelled changes.
import { isRecord } from "@trunkline/core";
import { hiddenIn } from "./hidden-text.js";
import { instructionsIn, isGreedyName } from "./model-instructions.js";
import type { Neighbours } from "./neighbours.js";
import { type Definition, parameterNames, textsOf } from "./pinned-definition.js";

/** Why a definition waits for approval. */
export interface HoldReason {
  readonly code:
    | "read-only"
    | "not-destructive"
    | "repeatable"
    | "closed-world"
    | "hidden-text"
    | "instructions"
    | "name-taken"
    | "lookalike"
    | "moved"
    | "too-large"
    | "too-many"
    | "changed"
    | "new";
  /** A clause about the definition, such as "it now says that it only reads". It may quote the server. */
  readonly text: string;
}

type ChangeVerdict =
  | { readonly change: "unchanged" | "new" | "wording" }
  | { readonly change: "held"; readonly reasons: readonly HoldReason[] };

/** What is done about changes: by these rules, or the `pin` of the server's entry. */
export type PinMode = "rules" | "hold" | "notice" | "off";

interface ChangeContext {
  readonly mode?: PinMode;
  /** The server lists its tools for the first time: there is nothing to compare, and the user has just added it. */
  readonly isFirstList?: boolean;
  /** The tools of other servers; absent for prompts and instructions, which are always addressed with their server. */
  readonly neighbours?: Neighbours;
}

/** Larger definitions are not searched for instructions, and nothing real comes close. */
const LARGEST_CHARS = 1_000_000;

/** Judges the step from the pinned definition to a listed one that differs from it. */
export function classifyChange(
  before: Definition | undefined,
  after: Definition,
  { mode = "rules", isFirstList = false, neighbours }: ChangeContext = {},
): ChangeVerdict {
  const change = before === undefined ? "new" : "wording";
  if (mode === "notice" || mode === "off") return { change };
  const reasons = [
    ...(before === undefined ? [] : widenedHints(before, after)),
    ...addedText(before, after),
    ...(before === undefined && !isFirstList ? nameReasons(after, neighbours) : []),
  ];
  if (reasons.length === 0 && mode === "hold" && !isFirstList) {
    reasons.push(
      before === undefined
        ? { code: "new", text: "it is new, and every change of this server needs approval" }
        : { code: "changed", text: "its definition changed, and every change of this server needs approval" },
    );
  }
  return reasons.length === 0 ? { change } : { change: "held", reasons };
}

/** Hints that let clients, and Trunkline itself, do more without asking. */
function widenedHints(before: Definition, after: Definition): HoldReason[] {
  const [was, is] = [hintsOf(before), hintsOf(after)];
  const reasons: HoldReason[] = [];
  if (!was.readOnly && is.readOnly) {
    reasons.push({ code: "read-only", text: "it now says that it only reads (readOnlyHint)" });
  }
  // A tool that already only reads destroys nothing: its hint has no meaning.
  if (!(was.readOnly && is.readOnly)) {
    if (
      (was.destructive === true && is.destructive !== true) ||
      (was.destructive !== false && is.destructive === false)
    )
      reasons.push({ code: "not-destructive", text: "it no longer says that it is destructive (destructiveHint)" });
    if (!was.idempotent && is.idempotent)
      reasons.push({ code: "repeatable", text: "it now says that a call may be repeated (idempotentHint)" });
    if (was.openWorld !== false && is.openWorld === false)
      reasons.push({ code: "closed-world", text: "it now says that it reaches nothing outside (openWorldHint)" });
  }
  return reasons;
}

function hintsOf(definition: Definition) {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = isRecord(definition.annotations)
    ? definition.annotations
    : {};
  return {
    readOnly: claims(readOnlyHint),
    destructive: typeof destructiveHint === "boolean" ? destructiveHint : undefined,
    idempotent: claims(idempotentHint),
    openWorld: typeof openWorldHint === "boolean" ? openWorldHint : undefined,
  };
}

/** Trunkline itself believes only `true`, but other programs are less strict. */
function claims(hint: unknown): boolean {
  return hint === true || hint === "true" || hint === 1;
}

/** Hidden text and instructions that were not there before. */
function addedText(before: Definition | undefined, after: Definition): HoldReason[] {
  const known = before === undefined ? new Set<string>() : new Set([...textsOf(before)].map(({ text }) => text));
  const added = [...textsOf(after)].filter(({ text }) => !known.has(text));
  const length = added.reduce((sum, { text }) => sum + text.length, 0);
  if (length > LARGEST_CHARS) {
    return [{ code: "too-large", text: `its definition is too large to check (${length} characters)` }];
  }
  const knownFindings = new Set([...known].flatMap((text) => findingsIn(text).map(({ id }) => id)));
  // A sentence can be spread over several fields.
  const joined = added
    .filter(({ isName }) => isName !== true)
    .map(({ text }) => text)
    .join(" ");
  const findings = [...added.map(({ text }) => text), joined]
    .flatMap(findingsIn)
    .filter(({ id }) => !knownFindings.has(id));
  const hidden = [...new Set(findings.flatMap((finding) => finding.hidden ?? []))];
  const instructions = findings.flatMap((finding) => finding.instruction ?? []);
  const oldNames = before === undefined ? new Set<string>() : parameterNames(before);
  const greedy = [...parameterNames(after)].filter((name) => !oldNames.has(name) && isGreedyName(name));
  const [first] = instructions;
  return [
    ...(hidden.length === 0
      ? []
      : [{ code: "hidden-text", text: `it contains hidden text (${hidden.slice(0, 5).join(", ")})` } as const]),
    ...(first === undefined
      ? []
      : [{ code: "instructions", text: `it instructs the model: "${first.quote}"` } as const]),
    ...(greedy[0] === undefined ? [] : [{ code: "instructions", text: `it has a parameter "${greedy[0]}"` } as const]),
  ];
}

interface Finding {
  readonly id: string;
  readonly hidden?: string;
  readonly instruction?: { readonly quote: string };
}

function findingsIn(text: string): Finding[] {
  return [
    ...hiddenIn(text).map((hidden) => ({ id: `hidden ${hidden}`, hidden })),
    ...instructionsIn(text).map(({ rule, quote }) => ({ id: `${rule} ${quote}`, instruction: { quote } })),
  ];
}

/** A new tool must not take the place of another server's. */
function nameReasons(after: Definition, neighbours: Neighbours | undefined): HoldReason[] {
  const { name } = after;
  if (neighbours === undefined || typeof name !== "string") return [];
  const taken = neighbours.sameRenderedName(name);
  if (taken !== undefined) return [{ code: "name-taken", text: `its name reads the same as ${taken}` }];
  const twin = neighbours.lookalike(name);
  if (twin !== undefined) return [{ code: "lookalike", text: `its name looks like ${twin}` }];
  const from = neighbours.movedFrom(name);
  return from === undefined ? [] : [{ code: "moved", text: `it moved here from the server "${from}"` }];
}
