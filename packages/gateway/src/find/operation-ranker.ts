// Ranks operations for a question: by words, and also by meaning if there is a model.
import { byCodeUnit, type Embedder, type Logger, typingDistance } from "@trunkline/core";
import { type Candidate, embeddedTexts, type Field, fieldsOf, TEXTS } from "./candidate-texts.js";
import { Vectors } from "./kept-vectors.js";
import { KeywordIndex } from "./keyword-index.js";
import { synonymsOf } from "./synonyms.js";
import { wordsOf } from "./words.js";

const VALUES: readonly (readonly [RegExp, string])[] = [
  [/\bhttps?:\/\/[^\s"'<>)\]]*[^\s"'<>)\].,;:!?]/gi, "URL"],
  [/\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b/g, "email address"],
  // A path to a file keeps its extension: ~/notes/today.md is an "md file".
  [/(?<![\w/])(?:~|\.{1,2}|[A-Za-z]:)?[\\/][\w.~\\/-]*\.([A-Za-z]\w{0,4})\b/g, "$1 file"],
  [/(?<![\w/])(?:~|\.{1,2})\/[\w.~/-]*/g, "folder"],
  [/\bwww\.[\w-]+(?:\.[\w-]+)+\b/gi, "website"],
];

/** A part with fewer meaningful words belongs to its neighbour. */
const FEWEST_WORDS = 2;

/** Each need costs an embedding, and a page of text is not a list of tasks. */
const MOST_NEEDS = 8;

const BOUNDARY =
  /(?<=[\p{L}\p{N})"'\]])[.;!?:](?=\s|$)|,\s+|\s+(?:and|then|also|while|including|with|plus|or)\s+|\n+|[。；，、！？]/u;

/** Longer questions describe something; they do not name it. */
const LONGEST_NAME = 80;

/** Shorter words are a typo away from too many names. */
const SHORTEST_TYPO = 4;

const LONG_NAME = 8;

/** A word that is written like an identifier: with an underscore, a dot, a hyphen or a capital inside. */
const IDENTIFIER = /[\p{L}\p{N}]+(?:[_.:/-]+[\p{L}\p{N}]+|(?<=\p{Ll})\p{Lu}[\p{L}\p{N}]*)+/gu;

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
  readonly embedder?: () => Promise<Embedder | undefined>;
  /** The folder for cached vectors. */
  readonly folder?: string;
  readonly logger: Logger;
  /** How long a question may wait for vectors that were never computed. Default 0: they are computed meanwhile. */
  readonly waitMs?: number;
}

interface RankOptions {
  /** How much an operation is used, by its name; 0 if never. */
  readonly weightOf?: (name: string) => number;
  readonly signal?: AbortSignal;
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

// Recognizes questions that name an operation.

/** The forms of a candidate's name that questions are compared with. */
interface NameForms {
  readonly full: string;
  readonly tool: string;
  readonly fullWords: string;
  readonly toolWords: string;
}

function nameForms({ name, tool, server }: Candidate): NameForms {
  return {
    full: lettersOf(name),
    tool: lettersOf(tool),
    fullWords: keyOf(`${server ?? ""} ${tool}`),
    toolWords: keyOf(tool),
  };
}

/**
 * Returns how clearly a question names a candidate: 3 is its full name, 2 the name of the tool, 1 the name with a typo,
 * 0 not at all. Spelling style does not matter: `createIssue`, `create_issue` and "create issue" are the same.
 */
function namedBy(question: string): (forms: NameForms) => number {
  const text = question.trim();
  const asked = text.length <= LONGEST_NAME ? keyOf(text) : "";
  const mentioned = new Set([...text.matchAll(IDENTIFIER)].map(([name]) => lettersOf(name)));
  // A typo in a single word is a typo in a name; a sentence that resembles a name is just a sentence.
  const typed = text.length <= LONGEST_NAME && !/\s/.test(text) ? lettersOf(text) : "";
  return ({ full, tool, fullWords, toolWords }) => {
    if (mentioned.has(full) || (asked !== "" && asked === fullWords)) return 3;
    if (mentioned.has(tool) || (asked !== "" && asked === toolWords)) return 2;
    return typed.length >= SHORTEST_TYPO && (isTypo(typed, tool) || isTypo(typed, full)) ? 1 : 0;
  };
}

function isTypo(typed: string, name: string): boolean {
  return typingDistance(typed, name) <= (name.length < LONG_NAME ? 1 : 2);
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}

/** The same for the same words in any order. */
function keyOf(text: string): string {
  return [...new Set(wordsOf(text))].sort().join(" ");
}

// Splits a task into its needs: "read the sheet, plot it and save a PDF" asks for three different tools.

/** Returns the parts of a question that ask for different things; none if it asks for one. */
export function needsOf(question: string): string[] {
  const needs: string[] = [];
  let short = "";
  for (const part of question.split(BOUNDARY)) {
    const text = `${short} ${part}`.trim();
    if (wordsOf(text).length >= FEWEST_WORDS) {
      needs.push(text);
      short = "";
    } else short = text;
    if (needs.length === MOST_NEEDS) break;
  }
  if (short !== "" && needs.length > 0) needs.push(`${needs.pop()} ${short}`);
  return needs.length > 1 ? needs : [];
}

// Replaces concrete values in a question by what they are: the words in a path or an address say little about the task.

export function plainQuestion(question: string): string {
  return VALUES.reduce((text, [value, kind]) => text.replace(value, kind), question);
}
