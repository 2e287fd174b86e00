// Which operations a question is about: by words, and by meaning where there is a model.
import type { Embedder, Logger } from "@trunkline/core";
import { Vectors } from "./kept-vectors.js";
import { KeywordIndex } from "./keyword-index.js";
import { synonymsOf } from "./synonyms.js";
import { wordsOf } from "./words.js";

/** What is known about an operation, as far as it helps to find it. */
export interface Candidate {
  /** `github.create_issue`. */
  readonly name: string;
  readonly server?: string | undefined;
  /** Without the server. */
  readonly tool: string;
  readonly description: string;
  /** JSON Schema of the parameters. */
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
}

/** The order of candidates for a question. */
interface Ranking<C> {
  readonly method: "hybrid" | "keyword";
  readonly ranked: readonly { readonly candidate: C; readonly score: number }[];
  /** Why meaning played no part, or only some. */
  readonly notice?: string;
}

/** How a ranking is set up. */
interface RankerOptions {
  readonly embedder?: (() => Promise<Embedder | undefined>) | undefined;
  /** Where vectors are kept. */
  readonly folder?: string | undefined;
  readonly logger: Logger;
  /** How long a question may wait for vectors that are not there yet. */
  readonly waitMs?: number | undefined;
}

const WEIGHTS = {
  tool: { weight: 3, lengthPenalty: 0.3 },
  server: { weight: 1.5, lengthPenalty: 0 },
  description: { weight: 1, lengthPenalty: 0.5 },
  params: { weight: 0.5, lengthPenalty: 0.6 },
} as const;

const DEFAULT_WAIT_MS = 4000;
/** What a synonym of a word in the question counts, and what words count beside meaning. Measured by bench/server/find. */
const SYNONYM_WEIGHT = 0.5;
const WORDS_WEIGHT = 0.4;
/** What scores less than this part of the best has nothing to do with the question. */
const LEAST_OF_BEST = 0.4;

interface Index<C> {
  readonly candidates: readonly C[];
  readonly keyword: KeywordIndex<keyof typeof WEIGHTS>;
  /** Two for each candidate. */
  readonly texts: readonly string[];
}

/** Ranks candidates. What it makes of them is kept until it is given others. */
export class Ranker<C extends Candidate> {
  readonly #options: RankerOptions;
  #index: Index<C> | undefined;
  #vectors: Promise<Vectors | undefined> | undefined;

  constructor(options: RankerOptions) {
    this.#options = options;
  }

  /** Every candidate that has to do with the question, the best first. */
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
        return { notice: "Found by word only: the operations are still being embedded." };
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
      this.#options.logger.warn("operations not ranked by meaning", { error });
      return { notice: "Found by word only: the embedding model cannot be used." };
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
 * What a model reads of a candidate: its names with the first sentence, and all that is said of it. Two vectors find more
 * than one, because a long description says much that no question is about.
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

/** How much of the question each candidate has in words, from 0 to 1: rare words count more. */
function sharedWords(question: string, index: KeywordIndex<keyof typeof WEIGHTS>): Float64Array {
  const asked = [...new Set(wordsOf(question))];
  const words = new Map(asked.map((word) => [word, 1]));
  for (const word of asked) {
    for (const other of synonymsOf(word)) if (!words.has(other)) words.set(other, SYNONYM_WEIGHT);
  }
  const most = asked.reduce((sum, word) => sum + index.mostFor(word), 0);
  return index.scores(words).map((score) => (most === 0 ? 0 : Math.min(1, score / most)));
}

/** Words are weighed absolutely: a question that shares hardly a word with anything is left to its meaning. */
function fused(words: Float64Array, meaning: Float64Array): Float64Array {
  return words.map((score, at) => (Math.max(0, meaning[at] ?? 0) + WORDS_WEIGHT * score) / (1 + WORDS_WEIGHT));
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}
