// The entry point of a store thread: reads, hashes, chunks, compresses and analyses. It has no connection to the database;
// it asks the main thread, which stores what it is given.
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { type Call, type Handlers, RpcClient, remotesOf, serveRpc } from "@trunkline/core/threads";
import {
  addTo,
  ChunkPacker,
  type DocumentQuestions,
  type DocumentTarget,
  type DocumentWrites,
  downloadTo,
  type IncomingContent,
  prepareContent,
  type ResolvedAddParams,
  type ResolvedDownloadParams,
  type TakeChangesParams,
  takeChangesTo,
} from "@trunkline/store/parts";
import { wordsOfText } from "../words/keyword-counts.js";
import { analyse, countWords, cutPassages } from "./analysis.js";

export interface PostgresThreadStart {
  readonly folder: string;
  readonly flags: SharedArrayBuffer;
  readonly store: { readonly port: MessagePort; readonly flags: SharedArrayBuffer };
}

/** The questions and changes that the main thread answers, by method. */
type StoreSide = {
  [M in Exclude<keyof DocumentQuestions, "isStored">]: (
    env: never,
    params: Parameters<DocumentQuestions[M]>,
    call: Call,
  ) => ReturnType<DocumentQuestions[M]>;
} & {
  [M in keyof DocumentWrites]: (
    env: never,
    params: Parameters<DocumentWrites[M]>[0],
    call: Call,
  ) => ReturnType<DocumentWrites[M]>;
};

/** A document with its words counted, in place of its text. */
export interface CountedContent extends IncomingContent {
  readonly words?: Uint8Array;
}

function targetOf({ folder, store }: PostgresThreadStart): DocumentTarget {
  const rpc = new RpcClient(store.port, { owner: "store", flags: store.flags });
  const remotes = remotesOf<StoreSide>(rpc.call.bind(rpc));
  return {
    folder,
    questions: {
      // Asking for each chunk would take longer than compressing it.
      isStored: () => false,
      knownFiles: (...params) => remotes.knownFiles(params),
      knownContent: (...params) => remotes.knownContent(params),
      versionAt: (...params) => remotes.versionAt(params),
      liveAt: (...params) => remotes.liveAt(params),
    },
    writer: {
      addDocuments: (batch, options) =>
        remotes.addDocuments(
          {
            ...batch,
            documents: batch.documents.map((document) => ({ ...document, content: counted(document.content) })),
          },
          options,
        ),
      appendUpload: (part, options) => remotes.appendUpload(part, options),
      removeDocuments: (params) => remotes.removeDocuments(params),
      rememberRoot: (params) => remotes.rememberRoot(params),
      snapshot: (params) => remotes.snapshot(params),
    },
  };
}

function counted({ text, ...content }: IncomingContent): CountedContent {
  return { ...content, text: undefined, words: text === undefined ? undefined : wordsOfText(text) };
}

/** The handlers of this thread, as their callers see them. */
export interface ThreadHandlers {
  add(env: never, params: ResolvedAddParams, call: Call): ReturnType<typeof addTo>;
  download(env: never, params: ResolvedDownloadParams, call: Call): ReturnType<typeof downloadTo>;
  takeChanges(env: never, params: TakeChangesParams, call: Call): ReturnType<typeof takeChangesTo>;
  prepare(env: never, params: { bytes: Uint8Array }, call: Call): { content: IncomingContent; data: ArrayBuffer };
  analyse(env: never, params: Parameters<typeof analyse>[0], call: Call): ReturnType<typeof analyse>;
  countWords(env: never, params: Parameters<typeof countWords>[0], call: Call): Uint8Array;
  cutPassages(env: never, params: Parameters<typeof cutPassages>[0], call: Call): ReturnType<typeof cutPassages>;
}

if (parentPort !== null) {
  const start = workerData as PostgresThreadStart;
  const target = targetOf(start);
  const handlers: Handlers = {
    add: (params: ResolvedAddParams, call: Call) => addTo(target, params, call),
    download: (params: ResolvedDownloadParams, call: Call) => downloadTo(target, params, call),
    takeChanges: (params: TakeChangesParams, call: Call) => takeChangesTo(target, params, call),
    prepare: ({ bytes }: { bytes: Uint8Array }) => {
      const packer = new ChunkPacker();
      const content = packer.content({ ...prepareContent(bytes, () => false), text: undefined });
      return { content, data: packer.finish() };
    },
    analyse,
    countWords,
    cutPassages,
  };
  serveRpc(parentPort, handlers, { owner: "store", flags: start.flags });
}
