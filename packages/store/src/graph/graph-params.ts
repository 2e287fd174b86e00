// Checks the parameters of `graph`.

import { parseRelation, RELATIONS, type Relation } from "@trunkline/code-graph";
import { TrunklineError } from "@trunkline/core";
import type { GraphParams } from "../contract/index.js";
import { wholeNumber } from "../contract/params.js";

/** How many nodes an answer has by default. */
export const DEFAULT_NODES = 100;
/**
 * How long `graph` waits for documents that join it in the background: long enough for what was just added, short enough
 * while a large folder is being indexed.
 */
export const SETTLE_MS = 2_000;
const MOST_NODES = 10_000;

/** How far, and along which edges, to go from a node. */
interface GraphWay {
  readonly depth: number;
  readonly limit: number;
  readonly reverse: boolean;
  readonly relation?: Relation;
}

/** Rejects parameters that do not say where to start, or in a way that does not exist. */
export function graphWay(params: GraphParams): GraphWay {
  const { hash, name, nodeKey, listTypes, listType, format = "json" } = params;
  const asked = [hash, name, nodeKey, listTypes || undefined, listType].filter((value) => value !== undefined);
  if (asked.length !== 1) {
    throw new TrunklineError("INVALID_ARGUMENT", "graph needs one of hash, name, node_key, list_types and list_type.");
  }
  if (format !== "json" && format !== "mermaid") {
    throw new TrunklineError("INVALID_ARGUMENT", `"${String(format)}" is not a graph format.`, {
      hint: "Use json or mermaid.",
    });
  }
  const depth = wholeNumber(params.depth, { name: "depth", from: 1, to: 5 }) ?? 1;
  const limit = wholeNumber(params.limit, { name: "limit", from: 1, to: MOST_NODES }) ?? DEFAULT_NODES;
  const relation = params.relation === undefined ? {} : { relation: relationOf(params.relation) };
  return { depth, limit, reverse: params.reverse ?? false, ...relation };
}

function relationOf(text: string): Relation {
  const relation = parseRelation(text);
  if (relation !== undefined) return relation;
  throw new TrunklineError("INVALID_ARGUMENT", `"${text}" is not a relation.`, {
    hint: `Relations: ${RELATIONS.join(", ")}.`,
  });
}

/** Builds the error for a name that neither a document nor a symbol has. */
export function nothingNamed(name: string): TrunklineError {
  return new TrunklineError("NOT_FOUND", `The store has no document or symbol "${name}".`, {
    hint: "`grep` finds it in texts, `search` finds similar names.",
  });
}
