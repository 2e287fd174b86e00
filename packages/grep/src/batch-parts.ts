// Splits one batch across several threads. Each content belongs to one thread, which then has it in memory when it is
// needed again. The answers are merged as if one thread had given them.
import type { BatchAnswer, BatchDocuments, DocumentMatches, SentAnswer } from "./grep-messages.js";

/** The documents of a batch that belong to one thread. */
interface Part {
  readonly home: number;
  /** The positions of the documents in the batch. */
  readonly positions: readonly number[];
}

/** Assigns documents to threads. */
export function partsOf(documents: readonly { readonly hash: string }[], threads: number): Part[] {
  const parts = Array.from({ length: threads }, (_, home) => ({ home, positions: [] as number[] }));
  documents.forEach(({ hash }, position) => {
    parts[(Number.parseInt(hash.slice(-4), 16) || 0) % threads]?.positions.push(position);
  });
  return parts.filter(({ positions }) => positions.length > 0);
}

/** Returns what a thread needs to know about documents. */
export function columnsOf(documents: readonly { readonly path: string; readonly hash: string }[]): BatchDocuments {
  return {
    paths: JSON.stringify(documents.map(({ path }) => path)),
    hashes: documents.map(({ hash }) => hash).join(" "),
  };
}

/** Merges the parts' answers in order. If a part was stopped, everything after that position is dropped. */
export function together(
  parts: readonly { readonly positions: readonly number[] }[],
  answers: readonly SentAnswer[],
): BatchAnswer {
  let stoppedAt = Number.POSITIVE_INFINITY;
  let stuckAt: number | undefined;
  answers.forEach((answer, part) => {
    if (answer.stoppedAt === undefined) return;
    const positions = parts[part]?.positions ?? [];
    const position = positions[answer.stoppedAt] ?? 0;
    if (position >= stoppedAt) return;
    stoppedAt = position;
    stuckAt = answer.stuckAt === undefined ? undefined : positions[answer.stuckAt];
  });
  const found: DocumentMatches[] = [];
  let binary = 0;
  answers.forEach((answer, part) => {
    const positions = parts[part]?.positions ?? [];
    for (const index of answer.binary) if ((positions[index] as number) < stoppedAt) binary++;
    for (const document of documentsOf(answer)) {
      const index = positions[document.index] as number;
      if (index < stoppedAt) found.push({ ...document, index });
    }
  });
  if (answers.length > 1) found.sort((a, b) => a.index - b.index);
  return {
    found,
    binary,
    ...(stoppedAt === Number.POSITIVE_INFINITY ? {} : { stoppedAt }),
    ...(stuckAt === undefined ? {} : { stuckAt }),
  };
}

function* documentsOf({ counts, collected }: SentAnswer): Generator<DocumentMatches> {
  let next = 0;
  for (let at = 0; at < counts.length; at += 3) {
    const index = counts[at] as number;
    const own = collected[next]?.[0] === index ? collected[next++] : undefined;
    yield { index, count: counts[at + 1] as number, skipped: counts[at + 2] as number, matches: own?.[1] ?? [] };
  }
}
