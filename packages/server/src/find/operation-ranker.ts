// Ranks operations for a question: by words, and also by meaning if there is a model.
import type { Embedder, Logger } from "@trunkline/core";
import { Vectors } from "./kept-vectors.js";
import { KeywordIndex } from "./keyword-index.js";
import { synonymsOf } from "./synonyms.js";
import { wordsOf } from "./words.js";

/** The searchable facts about an operation. */
export interface Candidate {
  /** For example `github.create_issue`. */
  readonly name: string;
  readonly server?: string | undefined;
  /** The name without the server. */
  readonly tool: string;
  readonly description: string;
  /** JSON Schema of the parameters. */
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
}

interface Ranking<C> {
  readonly method: "hybrid" | "keyword";
  readonly ranked: readonly { readonly candidate: C; readonly score: number }[];
  /** Why meaning was not used, or only in part. */
  readonly notice?: string;
}

interface RankerOptions {
  readonly embedder?: (() => Promise<Embedder | undefined>) | undefined;
  /** The folder for cached vectors. */
  readonly folder?: string | undefined;
  readonly logger: Logger;
  /** How long a question may wait for missing vectors. */
  readonly waitMs?: number | undefined;
}

const WEIGHTS = {
  tool: { weight: 3, lengthPenalty: 0.3 },
  server: { weight: 1.5, lengthPenalty: 0 },
  description: { weight: 1, lengthPenalty: 0.5 },
  params: { weight: 0.5, lengthPenalty: 0.6 },
} as const;

const DEFAULT_WAIT_MS = 4000;
/** The weight of a synonym, and the weight of words relative to meaning. Measured by bench/server/find. */
const SYNONYM_WEIGHT = 0.5;
const WORDS_WEIGHT = 0.4;
/** Results below this fraction of the best score are unrelated to the question. */
const LEAST_OF_BEST = 0.4;

interface Index<C> {
  readonly candidates: readonly C[];
  readonly keyword: KeywordIndex<keyof typeof WEIGHTS>;
  /** Two per candidate. */
  readonly texts: readonly string[];
}

/** Ranks candidates. Caches its index until the candidates change. */
export class Ranker<C extends Candidate> {
  readonly #options: RankerOptions;
  #index: Index<C> | undefined;
  #vectors: Promise<Vectors | undefined> | undefined;

  constructor(options: RankerOptions) {
    this.#options = options;
  }

  /** All candidates related to the question, best first. */
  async rank(question: string, candidates: readonly C[], signal?: AbortSignal): Promise<Ranking<C>> {
    const index = this.#indexOf(candidates);
    const words = sharedWords(question, index.keyword);
    const meaning = await this.#meaning(question, index, signal);
    const scores = meaning.scores === undefined ? words : fused(words, meaning.scores);
    const best = scores.reduce((a, b) => Math.max(a, b), 0);
    const ranked = candidates
      .map((candidate, at) => ({ candidate, score: scores[at] ?? 0 }))
      .filter(({ score }) => score > 0 && score >= best * LEAST_OF_BEST)
      .sort((a, b) => b.score - a.score || (a.candidate.name < b.candidate.name ? -1 : 1));
    return {
      method: meaning.scores === undefined ? "keyword" : "hybrid",
      ranked,
      ...(meaning.notice === undefined ? {} : { notice: meaning.notice }),
    };
  }

  async close(): Promise<void> {
    const vectors = await this.#vectors;
    await vectors?.close();
  }

  #indexOf(candidates: readonly C[]): Index<C> {
    if (this.#index?.candidates === candidates) return this.#index;
    const fields = candidates.map(fieldsOf);
    this.#index = { candidates, keyword: new KeywordIndex(fields, WEIGHTS), texts: candidates.flatMap(embeddedTexts) };
    return this.#index;
  }

  async #meaning(
    question: string,
    { texts }: Index<C>,
    signal: AbortSignal | undefined,
  ): Promise<{ scores?: Float64Array; notice?: string }> {
    try {
      this.#vectors ??= this.#openVectors();
      const vectors = await this.#vectors;
      if (vectors === undefined) return {};
      const waitMs = this.#options.waitMs ?? DEFAULT_WAIT_MS;
      const known = await vectors.of(texts, { waitMs, signal });
      const missing = known.filter((vector) => vector === undefined).length;
      if (missing > texts.length / 2) {
        return { notice: "Matched by words only: the operations are still being embedded." };
      }
      const query = await vectors.ofQuery(question, signal);
      if (query === undefined) return {};
      const near = (vector: Float32Array | undefined) => (vector === undefined ? 0 : dot(query, vector));
      const scores = Float64Array.from(
        { length: texts.length / 2 },
        (_, at) => (near(known[2 * at]) + near(known[2 * at + 1])) / 2,
      );
      return { scores };
    } catch (error) {
      if (signal?.aborted) throw error;
      this.#vectors = undefined;
      this.#options.logger.warn("cannot rank operations by meaning", { error });
      return { notice: "Matched by words only: the embedding model is not available." };
    }
  }

  async #openVectors(): Promise<Vectors | undefined> {
    const embedder = await this.#options.embedder?.();
    const { folder, logger } = this.#options;
    return embedder === undefined ? undefined : new Vectors(embedder, { folder, logger });
  }
}

function fieldsOf({ tool, server, description, schema }: Candidate): Record<keyof typeof WEIGHTS, string> {
  const properties = (schema?.properties ?? {}) as Record<string, { description?: unknown } | undefined>;
  const params = Object.entries(properties).map(([name, property]) => {
    const text = typeof property?.description === "string" ? property.description : "";
    return `${name} ${text}`;
  });
  return { tool, server: server ?? "", description, params: params.join(" ") };
}

/**
 * Returns the texts of a candidate to embed: its names with the first sentence, and the full description. Two vectors
 * find more than one, because a long description covers much that no question asks about.
 */
function embeddedTexts({ tool, server, description, schema }: Candidate): [string, string] {
  const text = description.replace(/\s+/g, " ").trim();
  const owner = server === undefined ? "" : `${spaced(server)}: `;
  const params = Object.keys((schema?.properties ?? {}) as object).map(spaced);
  return [
    `${owner}${spaced(tool)}. ${firstSentence(text)}`,
    `${spaced(tool)}: ${text.slice(0, LONGEST_TEXT)} ${params.join(", ")}`,
  ];
}

const LONGEST_TEXT = 1000;

function firstSentence(text: string): string {
  return (/^.*?(?:[.!?](?=\s+[^\p{Ll}])|[。！？]|$)/u.exec(text)?.[0] ?? text).slice(0, 300);
}

function spaced(name: string): string {
  return name
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** Returns how many of the question's words each candidate contains, from 0 to 1. Rare words count more. */
function sharedWords(question: string, index: KeywordIndex<keyof typeof WEIGHTS>): Float64Array {
  const asked = [...new Set(wordsOf(question))];
  const words = new Map(asked.map((word) => [word, 1]));
  for (const word of asked) {
    for (const other of synonymsOf(word)) if (!words.has(other)) words.set(other, SYNONYM_WEIGHT);
  }
  const most = asked.reduce((sum, word) => sum + index.mostFor(word), 0);
  return index.scores(words).map((score) => (most === 0 ? 0 : Math.min(1, score / most)));
}

/** Word scores are absolute: a question that shares hardly any words with the candidates is ranked by meaning. */
function fused(words: Float64Array, meaning: Float64Array): Float64Array {
  return words.map((score, at) => (Math.max(0, meaning[at] ?? 0) + WORDS_WEIGHT * score) / (1 + WORDS_WEIGHT));
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}
