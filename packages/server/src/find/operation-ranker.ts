// Ranks operations for a question: by words, and also by meaning if there is a model.
import { byCodeUnit, type Embedder, type Logger } from "@trunkline/core";
import { type Candidate, embeddedTexts, type Field, fieldsOf, TEXTS } from "./candidate-texts.js";
import { Vectors } from "./kept-vectors.js";
import { KeywordIndex } from "./keyword-index.js";
import { type NameForms, namedBy, nameForms } from "./named.js";
import { needsOf } from "./needs.js";
import { plainQuestion } from "./plain-question.js";
import { synonymsOf } from "./synonyms.js";
import { wordsOf } from "./words.js";

interface Ranking<C> {
  readonly method: "hybrid" | "keyword";
  readonly ranked: readonly { readonly candidate: C; readonly score: number }[];
  /** How many of them are worth showing unless more are asked for. */
  readonly clear: number;
  /** Why meaning was not used, although there is a model. */
  readonly notice?: string;
  /** Whether there is no model. */
  readonly lacksModel?: boolean;
}

interface RankerOptions {
  readonly embedder?: (() => Promise<Embedder | undefined>) | undefined;
  /** The folder for cached vectors. */
  readonly folder?: string | undefined;
  readonly logger: Logger;
  /** How long a question may wait for vectors that were never computed. Default 0: they are computed meanwhile. */
  readonly waitMs?: number | undefined;
}

interface RankOptions {
  /** How much an operation is used, by its name; 0 if never. */
  readonly weightOf?: ((name: string) => number) | undefined;
  readonly signal?: AbortSignal | undefined;
}

// The following numbers are measured by bench/server/find.

const WEIGHTS = {
  tool: { weight: 3, lengthPenalty: 0.3 },
  server: { weight: 1.5, lengthPenalty: 0 },
  description: { weight: 1, lengthPenalty: 0.5 },
  params: { weight: 0.5, lengthPenalty: 0.6 },
} as const satisfies Record<Field, unknown>;
const SYNONYM_WEIGHT = 0.6;
/**
 * The weight of words next to a cosine. Their score is absolute: it does not shrink if the question has many other
 * words, such as names and dates, so words that fit win, and without any the meaning decides.
 */
const WORDS_WEIGHT = 0.16;
/** Below this, a score by words counts less than its share: a single common word proves nothing. */
const CLEAR_WORDS = 2;
/** The weight of the need that fits best, next to the whole question. */
const NEED_WEIGHT = 1;
/** The most that use adds: enough to decide between equals. */
const USE_WEIGHT = 0.03;
/** Results below this fraction of the best score are unrelated to the question. */
const LEAST_OF_BEST = 0.15;
/**
 * Results below this fraction are not worth their tokens, unless a task has several needs: then the tool for one of them
 * may be far behind.
 */
const CLEAR_OF_BEST = { hybrid: 0.6, keyword: 0.3 };

/** A longer text is not a question. In characters. */
const LONGEST_QUESTION = 4000;

const NOTICES = {
  // Whether there is a model may not be known yet either.
  pending: "Matched by words only: the index by meaning is not ready. If no tool fits, ask again in a moment.",
  failed: "Matched by words only: the embedding model is not available.",
};

interface Index<C> {
  readonly candidates: readonly C[];
  readonly keyword: KeywordIndex<Field>;
  readonly names: readonly NameForms[];
  /** {@link TEXTS} per candidate. */
  readonly texts: readonly string[];
}

/** Ranks candidates. Caches its index until the candidates change. */
export class Ranker<C extends Candidate> {
  readonly #options: RankerOptions;
  #index: Index<C> | undefined;
  readonly #vectors: Vectors;

  constructor(options: RankerOptions) {
    this.#options = options;
    const { embedder = async () => undefined, folder, logger } = options;
    this.#vectors = new Vectors({ embedder, folder, logger });
  }

  /** Starts to open the model, which takes longest. */
  warmUp(): void {
    // Its failure is noticed when it is needed.
    void this.#vectors.open();
  }

  /** All candidates related to the question, best first. */
  async rank(question: string, candidates: readonly C[], options: RankOptions = {}): Promise<Ranking<C>> {
    const { weightOf, signal } = options;
    this.warmUp();
    const index = this.#indexOf(candidates);
    const asked = plainQuestion(question.slice(0, LONGEST_QUESTION));
    const parts = [asked, ...needsOf(asked)];
    const words = parts.map((part) => wordScores(part, index.keyword));
    const { meaning, notice, lacksModel } = await this.#meaning(parts, index, signal);
    const [whole, ...needs] = words.map((scores, at) => fused(scores, meaning?.[at]));
    const named = namedBy(question.slice(0, LONGEST_QUESTION));
    const scored = candidates.map((candidate, at) => {
      const need = needs.reduce((most, scores) => Math.max(most, scores[at] ?? 0), 0);
      const fit = (whole?.[at] ?? 0) + NEED_WEIGHT * need;
      const used = weightOf?.(candidate.name) ?? 0;
      const name = named(index.names[at] as NameForms);
      return { candidate, name, used, score: fit > 0 ? fit + (USE_WEIGHT * used) / (1 + used) : 0 };
    });
    const best = scored.reduce((most, { score }) => Math.max(most, score), 0);
    const ranked = scored
      .filter(({ score, name }) => name > 0 || (score > 0 && score >= best * LEAST_OF_BEST))
      .sort((a, b) => {
        const byName = b.name - a.name || (a.name > 0 ? b.used - a.used : 0);
        return byName || b.score - a.score || byCodeUnit(a.candidate.name, b.candidate.name);
      });
    const method = meaning === undefined ? "keyword" : "hybrid";
    const least = needs.length > 0 ? 0 : best * CLEAR_OF_BEST[method];
    return {
      method,
      ranked,
      clear: ranked.filter(({ score, name }) => name > 0 || score >= least).length,
      ...(notice === undefined ? {} : { notice }),
      ...(lacksModel ? { lacksModel } : {}),
    };
  }

  /** Computes missing vectors in the background, for later questions. Opens the model only if there are any. */
  async prepare(candidates: readonly C[]): Promise<void> {
    const isIndexed = this.#index?.candidates === candidates;
    await this.#vectors.prepare(isIndexed ? (this.#index?.texts ?? []) : candidates.flatMap(embeddedTexts));
  }

  async close(): Promise<void> {
    await this.#vectors.close();
  }

  #indexOf(candidates: readonly C[]): Index<C> {
    if (this.#index?.candidates === candidates) return this.#index;
    this.#index = {
      candidates,
      keyword: new KeywordIndex(candidates.map(fieldsOf), WEIGHTS),
      names: candidates.map(nameForms),
      texts: candidates.flatMap(embeddedTexts),
    };
    return this.#index;
  }

  /** Returns the cosine of each part of the question and each candidate, if the vectors are there. */
  async #meaning(
    parts: readonly string[],
    { texts }: Index<C>,
    signal: AbortSignal | undefined,
  ): Promise<{ meaning?: readonly Float64Array[]; notice?: string; lacksModel?: boolean }> {
    try {
      const known = await this.#vectors.of(texts, { waitMs: this.#options.waitMs ?? 0, signal });
      if (known === "no model") return { lacksModel: true };
      if (known === "pending" || known === "failed") return { notice: NOTICES[known] };
      const embedder = await this.#vectors.open();
      const asked = (await embedder?.embed(parts, signal === undefined ? {} : { signal })) ?? [];
      return { meaning: asked.map((vector) => cosines(vector, known)) };
    } catch (error) {
      if (signal?.aborted) throw error;
      this.#options.logger.warn("cannot rank operations by meaning", { error });
      return { notice: NOTICES.failed };
    }
  }
}

/** Scores each candidate by the question's words, or their synonyms. */
function wordScores(question: string, index: KeywordIndex<Field>): Float64Array {
  const asked = [...new Set(wordsOf(question))];
  return index.scores(
    asked.map((word) => {
      const alternatives = new Map([[word, 1]]);
      // A synonym that is asked for itself counts by itself.
      for (const other of synonymsOf(word)) if (!asked.includes(other)) alternatives.set(other, SYNONYM_WEIGHT);
      return alternatives;
    }),
  );
}

function fused(words: Float64Array, meaning: Float64Array | undefined): Float64Array {
  return words.map(
    (score, at) => Math.max(0, meaning?.[at] ?? 0) + (WORDS_WEIGHT * score ** 2) / (score + CLEAR_WORDS),
  );
}

/** Half the mean and half the maximum over a candidate's texts. Without vectors a candidate is as near as the average. */
function cosines(question: Float32Array, known: readonly (Float32Array | undefined)[]): Float64Array {
  const near = Float64Array.from({ length: known.length / TEXTS }, (_, at) => {
    let sum = 0;
    let most = -1;
    for (let text = at * TEXTS; text < (at + 1) * TEXTS; text++) {
      const vector = known[text];
      if (vector === undefined) return Number.NaN;
      const cosine = dot(question, vector);
      sum += cosine;
      most = Math.max(most, cosine);
    }
    return (sum / TEXTS + most) / 2;
  });
  const there = near.filter((cosine) => !Number.isNaN(cosine));
  const average = there.reduce((sum, cosine) => sum + cosine, 0) / Math.max(1, there.length);
  return near.map((cosine) => (Number.isNaN(cosine) ? average : cosine));
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}
