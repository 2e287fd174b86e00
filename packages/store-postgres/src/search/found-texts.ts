// The documents of a page of hits and their texts, with one statement. Texts never change, so the gateway keeps some.
import { decodeText, type Hit, openChunk } from "@trunkline/store/parts";
import { type ContentRow, hexOf, readContent, requireIntact } from "../contents/pg-contents.js";
import type { Sql } from "../database/sql.js";

export interface FoundDocument extends ContentRow {
  readonly hit: Hit;
  readonly document: number;
  readonly path: string;
  readonly title: string | null;
  /** Empty if it is not wanted, and for binary content. */
  readonly text: string;
  /** The lines of the passage that was found by meaning. */
  readonly lines: { readonly from: number; readonly to: number } | undefined;
}

interface FoundRow extends ContentRow {
  readonly entry: number;
  readonly document: number;
  readonly path: string;
  readonly title: string | null;
  readonly from_line: number | null;
  readonly to_line: number | null;
  readonly chunk_hash: Uint8Array | null;
  readonly chunk_size: number;
  readonly codec: number;
  readonly data: Uint8Array;
}

/** Longer texts are read chunk by chunk, and not kept. */
const SHORT_BYTES = 256 * 1024;
const KEPT_CHARACTERS = 16 * 1024 * 1024;

export class FoundTexts {
  /** By entry; least recently used first. */
  readonly #texts = new Map<number, string>();
  #characters = 0;

  /** Reads the documents of hits that the viewer can see, in the order of the hits. */
  async read(sql: Sql, hits: readonly Hit[], { isTextWanted }: { isTextWanted: boolean }): Promise<FoundDocument[]> {
    if (hits.length === 0) return [];
    // Taken before waiting: another search may make room for its own.
    const known = new Map(hits.map(({ entry }) => [entry, this.#take(entry)]));
    const rows = await sql.rows<FoundRow>(
      `SELECT e.id AS entry, d.id AS document, d.path, d.title, c.id, c.hash, c.size, c.type, p.from_line, p.to_line,
         k.hash AS chunk_hash, k.size AS chunk_size, k.codec, k.data
       FROM unnest($1::int[], $2::int[], $3::boolean[]) AS n(entry, passage, is_wanted) JOIN entries e ON e.id = n.entry
       JOIN seen_documents d ON d.id = e.document JOIN contents c ON c.id = e.content
       LEFT JOIN passages p ON p.id = n.passage
       LEFT JOIN content_chunks cc ON n.is_wanted AND cc.content = c.id AND c.type = 'text' AND c.size <= ${SHORT_BYTES}
       LEFT JOIN chunks k ON k.id = cc.chunk ORDER BY e.id, cc.position`,
      hits.map(({ entry }) => entry),
      hits.map(({ passage }) => passage ?? null),
      hits.map(({ entry }) => isTextWanted && known.get(entry) === undefined),
    );
    const byEntry = new Map<number, FoundRow[]>();
    for (const row of rows) byEntry.set(row.entry, [...(byEntry.get(row.entry) ?? []), row]);
    const documents: FoundDocument[] = [];
    for (const hit of hits) {
      const [first, ...others] = byEntry.get(hit.entry) ?? [];
      if (first === undefined) continue;
      const isText = isTextWanted && first.type === "text";
      const text = isText ? (known.get(hit.entry) ?? (await this.#textOf(sql, first, [first, ...others]))) : "";
      const { document, path, title, id, hash, size, type, from_line: from, to_line: to } = first;
      const lines = from === null || to === null ? undefined : { from, to };
      documents.push({ hit, document, path, title, id, hash, size, type, text, lines });
    }
    return documents;
  }

  #take(entry: number): string | undefined {
    const known = this.#texts.get(entry);
    if (known === undefined) return undefined;
    this.#texts.delete(entry);
    this.#texts.set(entry, known);
    return known;
  }

  async #textOf(sql: Sql, content: FoundRow, rows: readonly FoundRow[]): Promise<string> {
    if (content.size > SHORT_BYTES) return decodeText(await readContent(sql, content));
    const parts = rows.flatMap(({ chunk_hash: hash, chunk_size: size, codec, data }) =>
      hash === null ? [] : [openChunk({ hash: hexOf(hash), size, codec, data })],
    );
    const text = decodeText(requireIntact(content, Buffer.concat(parts)));
    this.#keep(content.entry, text);
    return text;
  }

  #keep(entry: number, text: string): void {
    if (this.#texts.has(entry)) return;
    this.#texts.set(entry, text);
    this.#characters += text.length;
    for (const [oldest, kept] of this.#texts) {
      if (this.#characters <= KEPT_CHARACTERS) return;
      this.#texts.delete(oldest);
      this.#characters -= kept.length;
    }
  }
}
