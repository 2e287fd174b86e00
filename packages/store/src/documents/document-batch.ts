// Collects documents into batches for the writer: many files share a transaction, and reading continues while the
// writer writes the previous batch.

import type { Call } from "@trunkline/core/threads";
import type { PreparedContent } from "../engine/content/prepare.js";
import type { ContentType } from "../engine/content/text.js";
import { ChunkPacker, type IncomingContent, type IncomingDocument } from "../engine/writing/incoming.js";
import type { AddedDocuments } from "../engine/writing/store-content.js";
import type { DocumentTarget } from "./document-target.js";

/** Settings shared by all documents of a call. */
export interface Batch {
  readonly collection: string;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly session: string | undefined;
}

/** Totals over all batches. */
interface BatchTotals {
  readonly offered: number;
  readonly added: number;
  readonly changed: number;
  readonly newBytes: number;
}

type Place = Omit<IncomingDocument, "content">;

interface Waiting {
  readonly document: IncomingDocument;
  /** Prepares the content again with all its chunks, in case the store has dropped some of them. */
  readonly again: (() => PreparedContent) | undefined;
}

const BATCH_DOCUMENTS = 256;
const BATCH_BYTES = 4 * 1024 * 1024;

/** Sends documents to the writer in batches; at most two are in flight. */
export class DocumentBatcher {
  readonly root: string | undefined;
  readonly #env: Pick<DocumentTarget, "writer">;
  readonly #batch: Batch;
  readonly #call: Call;
  #waiting: Waiting[] = [];
  #packer = new ChunkPacker();
  #textLength = 0;
  #underWay: Promise<void>[] = [];
  #failure: { error: unknown } | undefined;
  #totals = { offered: 0, added: 0, changed: 0, newBytes: 0 };

  constructor(env: Pick<DocumentTarget, "writer">, batch: Batch, call: Call, root?: string) {
    this.#env = env;
    this.#batch = batch;
    this.#call = call;
    this.root = root;
  }

  /** Adds a document with prepared content. */
  async add(place: Place, prepared: PreparedContent, again: () => PreparedContent): Promise<void> {
    this.#textLength += prepared.text?.body.length ?? 0;
    await this.#take({ document: { ...place, content: this.#packer.content(prepared) }, again });
  }

  /** Adds a document whose content is already in the store. */
  async addKnown(place: Place, content: { hash: string; size: number; type: ContentType }): Promise<void> {
    const known: IncomingContent = { ...content, chunks: [], upload: undefined, text: undefined };
    await this.#take({ document: { ...place, content: known }, again: undefined });
  }

  /** Adds a document whose chunks were uploaded in advance. */
  async addUploaded(place: Place, content: IncomingContent, newBytes: number): Promise<void> {
    this.#totals.newBytes += newBytes;
    await this.#take({ document: { ...place, content }, again: undefined });
  }

  /** Waits until all batches are acknowledged. */
  async finish(): Promise<BatchTotals> {
    await this.#send();
    await Promise.all(this.#underWay);
    if (this.#failure) throw this.#failure.error;
    return this.#totals;
  }

  async #take(waiting: Waiting): Promise<void> {
    this.#totals.offered++;
    this.#waiting.push(waiting);
    const full = this.#packer.bytes + this.#textLength >= BATCH_BYTES;
    if (full || this.#waiting.length >= BATCH_DOCUMENTS) await this.#send();
  }

  async #send(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    const data = this.#packer.finish();
    this.#waiting = [];
    this.#packer = new ChunkPacker();
    this.#textLength = 0;
    while (this.#underWay.length >= 2) await this.#underWay[0];
    if (this.#failure) throw this.#failure.error;
    const sent: Promise<void> = this.#deliver(waiting, data).finally(() => {
      this.#underWay = this.#underWay.filter((other) => other !== sent);
    });
    // The next send or finish reports the error; until then it must not count as unhandled.
    sent.catch((error: unknown) => {
      this.#failure ??= { error };
    });
    this.#underWay.push(sent);
  }

  async #deliver(waiting: readonly Waiting[], data: ArrayBuffer): Promise<void> {
    const answer = await this.#write(
      waiting.map(({ document }) => document),
      data,
    );
    if (answer.missing.length === 0) return;
    const packer = new ChunkPacker();
    const documents = answer.missing.flatMap((position) => {
      const { document, again } = waiting[position] as Waiting;
      return again === undefined ? [] : [{ ...document, content: packer.content(again()) }];
    });
    await this.#write(documents, packer.finish());
  }

  async #write(documents: readonly IncomingDocument[], data: ArrayBuffer): Promise<AddedDocuments> {
    const { signal } = this.#call;
    const answer = await this.#env.writer.addDocuments(
      { ...this.#batch, documents, data },
      { signal, transfer: [data] },
    );
    this.#totals.added += answer.added;
    this.#totals.changed += answer.changed;
    this.#totals.newBytes += answer.newBytes;
    return answer;
  }
}
