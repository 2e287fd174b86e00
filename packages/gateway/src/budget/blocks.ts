// Fits content blocks into the budget of an answer. Text counts against the token budget; images, audio and other
// binary data are sent unchanged up to a size limit. Blocks over the limit are stored, and the answer lists them with a
// handle.
import {
  type ContentStore,
  contentIdOf,
  headOf,
  isRecord,
  isTrunklineError,
  LargeValue,
  messageOf,
  type SerializedValue,
} from "@trunkline/core";
import type { ContentBlock } from "../interfaces/operation.js";
import { serializeValue, storeValue } from "./stored-value.js";
import { countTokens } from "./tokens.js";

/** Maximum base64 characters of a block that is sent. */
const MOST_BLOCK_CHARS = 1024 * 1024;
/** Maximum base64 characters of all blocks in one answer. */
const MOST_ANSWER_CHARS = 2 * 1024 * 1024;
/** Maximum number of binary blocks in one answer. */
const MOST_BINARY_BLOCKS = 20;
/** Maximum number of blocks with their own handle; the rest share one. */
const MOST_STORED = 20;
const MOST_LISTED = 50;
/** Showing less than this of a text is not useful. */
const LEAST_HEAD_TOKENS = 60;
const LONGEST_FIELD = 200;
const SHORT_ID = 12;

/** The blocks of one step. */
export interface BlockGroup {
  readonly op: string;
  readonly blocks: readonly (ContentBlock | LargeValue)[];
}

interface FitBlocksOptions {
  /** Token budget for the text of all blocks. */
  readonly maxTokens: number;
  /** Counts each byte as a token, which is good enough if everything is small enough to fit anyway. */
  readonly countsBytes: boolean;
  /** Opens the store for blocks that are not sent; undefined if nothing is stored. */
  readonly store: (() => Promise<ContentStore>) | undefined;
  readonly signal?: AbortSignal;
}

/** A block as listed in the answer. */
interface ListedBlock {
  readonly [field: string]: unknown;
  /** The block is not sent, or only in part. */
  readonly truncated?: true;
  readonly hash?: string;
}

export interface FittedBlocks {
  /** The blocks sent in addition to the text. */
  readonly sent: readonly ContentBlock[];
  /** The list entries for the blocks of each group. */
  readonly listed: readonly (readonly ListedBlock[])[];
  /** The text of the blocks that are sent, and its token count. */
  readonly text: string;
  readonly tokens: number;
}

/**
 * A block with its payload separated: base64 bytes, the text of an embedded resource, or undefined if there is only its
 * JSON.
 */
interface Weighed {
  readonly block: ContentBlock;
  readonly payload: { readonly kind: "bytes" | "text"; readonly data: string } | undefined;
  /** The part that counts as text. */
  readonly text: string;
  /** The same block with a different payload. */
  readonly withPayload: (data: string) => ContentBlock;
  /** The whole block, if it is on another thread: it is too large to be sent. `block` then only describes it. */
  readonly large?: LargeValue;
}

function weigh(given: ContentBlock | LargeValue): Weighed {
  if (given instanceof LargeValue) {
    const { isText: _, size: __, head: ___, count: ____, ...block } = given.about;
    const { type, uri, mimeType } = block;
    const withPayload = (text: string) => ({ type, resource: { uri, mimeType, text } });
    return { block, payload: undefined, text: "", withPayload, large: given };
  }
  const block = given;
  const { type, data, resource } = block;
  if ((type === "image" || type === "audio") && typeof data === "string") {
    const withPayload = (other: string) => ({ ...block, data: other });
    return { block, payload: { kind: "bytes", data }, text: JSON.stringify(withPayload("")), withPayload };
  }
  if (type === "resource" && isRecord(resource)) {
    const key = typeof resource.text === "string" ? "text" : "blob";
    const inner = resource[key];
    if (typeof inner === "string") {
      const withPayload = (other: string) => ({ ...block, resource: { ...resource, [key]: other } });
      const kind = key === "text" ? "text" : "bytes";
      const text = JSON.stringify(kind === "text" ? block : withPayload(""));
      return { block, payload: { kind, data: inner }, text, withPayload };
    }
  }
  return { block, payload: undefined, text: JSON.stringify(block), withPayload: () => block };
}

interface WeighedBlocks {
  readonly groups: readonly { readonly op: string; readonly blocks: readonly Weighed[] }[];
  readonly count: number;
  /** Total size of the text. */
  readonly textBytes: number;
}

/** Measures each block once. */
export function weighBlocks(groups: readonly BlockGroup[]): WeighedBlocks {
  const weighed = groups.map(({ op, blocks }) => ({ op, blocks: blocks.map(weigh) }));
  const all = weighed.flatMap(({ blocks }) => blocks);
  return {
    groups: weighed,
    count: all.length,
    textBytes: all.reduce((sum, { text, large }) => sum + (large?.sizeBytes ?? Buffer.byteLength(text)), 0),
  };
}

/** Decides which blocks are sent and stores the others. Rejects only when the signal is aborted. */
export async function fitBlocks({ groups }: WeighedBlocks, options: FitBlocksOptions): Promise<FittedBlocks> {
  const sending = new Sending(options);
  const listed: ListedBlock[][] = groups.map(() => []);
  const leftOver: { group: number; weighed: Weighed }[] = [];
  const unlisted = groups.map(() => 0);
  const leftOut = new LeftOut(options);
  let entries = 0;
  for (const [group, { op, blocks }] of groups.entries()) {
    for (const weighed of blocks) {
      const isWhole = await sending.add(weighed);
      if (!isWhole && (leftOut.count >= MOST_STORED || entries >= MOST_LISTED)) {
        leftOver.push({ group, weighed });
      } else if (entries >= MOST_LISTED) {
        unlisted[group] = (unlisted[group] ?? 0) + 1;
      } else {
        entries++;
        listed[group]?.push(
          isWhole ? listedWhole(weighed) : { ...described(weighed), ...(await leftOut.keep(contentOf(weighed), op)) },
        );
      }
    }
  }
  const ownOf = (group: number) => leftOver.filter((each) => each.group === group);
  const isLarge = listed.map((_, group) => ownOf(group).some(({ weighed }) => weighed.large !== undefined));
  const together = leftOver.filter(({ group }) => isLarge[group] !== true);
  const shared = await leftOut.keepTogether(together.map(({ weighed }) => weighed.block));
  for (const [group, list] of listed.entries()) {
    const own = ownOf(group);
    // Large blocks are on the thread of their server, and are stored from there.
    const all = isLarge[group]
      ? await leftOut.keepLarge(own.map(({ weighed }) => weighed.large ?? weighed.block))
      : shared;
    const more = own.reduce((sum, { weighed }) => sum + Number(weighed.large?.about.count ?? 1), unlisted[group] ?? 0);
    if (more === 0) continue;
    const size = own.reduce((sum, { weighed }) => sum + contentOf(weighed).size, 0);
    list.push({ more, ...(own.length === 0 ? {} : { size, ...all }) });
  }
  return { sent: sending.sent, listed, text: sending.text, tokens: sending.tokens };
}

/** The blocks to send, and how much of the budget they use. */
class Sending {
  readonly sent: ContentBlock[] = [];
  text = "";
  tokens = 0;
  readonly #options: FitBlocksOptions;
  #chars = 0;
  #binaries = 0;

  constructor(options: FitBlocksOptions) {
    this.#options = options;
  }

  /** Returns whether the whole block is sent. A long text can be sent in part. */
  async add(weighed: Weighed): Promise<boolean> {
    if (weighed.large !== undefined) {
      if (typeof weighed.large.about.head === "string") await this.#sendHead(weighed, weighed.large.about.head);
      return false;
    }
    const { block, payload, text } = weighed;
    const chars = payload?.kind === "bytes" ? payload.data.length : 0;
    const isBinary = payload?.kind === "bytes";
    if (chars > MOST_BLOCK_CHARS || this.#chars + chars > MOST_ANSWER_CHARS) return false;
    if (isBinary && this.#binaries >= MOST_BINARY_BLOCKS) return false;
    if (await this.#send(block, text)) {
      this.#chars += chars;
      if (isBinary) this.#binaries++;
      return true;
    }
    if (payload?.kind === "text") await this.#sendHead(weighed, payload.data);
    return false;
  }

  get #left(): number {
    return this.#options.maxTokens - this.tokens;
  }

  async #send(block: ContentBlock, text: string): Promise<boolean> {
    const tokens = await this.#count(text);
    if (tokens === undefined) return false;
    this.tokens += tokens;
    this.text += text;
    this.sent.push(block);
    return true;
  }

  async #count(text: string): Promise<number | undefined> {
    const left = this.#left;
    if (left <= 0 || text.length > left * 128) return undefined;
    return this.#options.countsBytes ? Buffer.byteLength(text) : await countTokens(text, left);
  }

  async #sendHead({ withPayload }: Weighed, text: string): Promise<void> {
    for (let bytes = this.#left * 4; this.#left >= LEAST_HEAD_TOKENS && bytes >= LEAST_HEAD_TOKENS; bytes *= 0.7) {
      const block = withPayload(headOf(text, bytes));
      if (await this.#send(block, JSON.stringify(block))) return;
    }
  }
}

/** The content of a block that is worth storing. */
interface BlockContent {
  readonly size: number;
  readonly isText: boolean;
  readonly serialized: () => SerializedValue | Promise<SerializedValue>;
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

function contentOf(weighed: Weighed): BlockContent {
  const { payload, text, large } = weighed;
  if (large !== undefined) {
    const { size, isText } = large.about;
    return { size: Number(size), isText: isText !== false, serialized: () => large.serialized() };
  }
  if (payload?.kind === "bytes" && BASE64.test(payload.data)) {
    const bytes = () => Buffer.from(payload.data, "base64");
    const extension = extensionOf(described(weighed).mimeType);
    return {
      size: Buffer.byteLength(payload.data, "base64"),
      isText: false,
      serialized: () => serialize(bytes(), extension),
    };
  }
  const content = payload?.data ?? text;
  const extension = payload === undefined ? "json" : "txt";
  return {
    size: Buffer.byteLength(content),
    isText: true,
    serialized: () => serialize(Buffer.from(content), extension),
  };
}

function serialize(bytes: Uint8Array, extension: string): SerializedValue {
  return { bytes, id: contentIdOf(bytes), extension, lines: 1 };
}

function extensionOf(mimeType: unknown): string {
  const subtype = typeof mimeType === "string" ? /\/(?:x-)?([a-z0-9]{2,8})/i.exec(mimeType)?.[1] : undefined;
  return subtype?.toLowerCase() ?? "bin";
}

type Handle = Pick<ListedBlock, "truncated" | "hash"> & { readonly hint?: string };

/** Stores blocks that are not sent. Only the first handle of each kind has a hint. */
class LeftOut {
  count = 0;
  readonly #options: FitBlocksOptions;
  readonly #hinted = new Set<string>();

  constructor(options: FitBlocksOptions) {
    this.#options = options;
  }

  async keep(content: BlockContent, op: string): Promise<Handle> {
    this.count++;
    const { store, signal } = this.#options;
    if (store === undefined) return this.#handle("none", "Too large to send in full, and storing results is disabled.");
    let serialized: SerializedValue;
    try {
      serialized = await content.serialized();
      await storeValue(await store(), serialized, { op, signal });
    } catch (error) {
      if (isTrunklineError(error, "ABORTED")) throw error;
      return this.#handle("failed", `Too large to send in full, and it could not be stored: ${messageOf(error)}`);
    }
    const short = serialized.id.slice(0, SHORT_ID);
    const hint = content.isText
      ? `The full content is stored: get {"hash": "${short}", "bytes": "0-9999"}, or grep {"pattern": "…", "hash": "${short}"}.`
      : `Too large to send, so it is stored: "$hash:${short}" as a parameter passes it on as base64, and the resource trunkline://blob/${serialized.id} returns its bytes.`;
    return { ...this.#handle(content.isText ? "text" : "bytes", hint), hash: serialized.id };
  }

  /** Stores the blocks without their own handle under a shared one. */
  async keepTogether(blocks: readonly ContentBlock[]): Promise<Handle> {
    if (blocks.length === 0) return {};
    return await this.keep({ size: 0, isText: true, serialized: () => serializeValue(blocks) }, "blocks");
  }

  /** The same for the blocks of one step, some of which are large. */
  async keepLarge(blocks: readonly (ContentBlock | LargeValue)[]): Promise<Handle> {
    const last = blocks.findLast((block) => block instanceof LargeValue);
    if (!(last instanceof LargeValue)) return {};
    const before = blocks.filter((block) => block !== last);
    return await this.keep({ size: 0, isText: true, serialized: () => last.serializedAfter(before) }, "blocks");
  }

  #handle(kind: string, hint: string): Handle {
    const isFirst = !this.#hinted.has(kind);
    this.#hinted.add(kind);
    return { truncated: true, ...(isFirst ? { hint } : {}) };
  }
}

/** The list entries for the blocks of each group if all of them are sent. */
export function listWhole(groups: readonly BlockGroup["blocks"][]): FittedBlocks["listed"] {
  return groups.map((blocks) => blocks.map(weigh).map(listedWhole));
}

/** The list entry of a block that is sent. A link says everything about itself. */
function listedWhole(weighed: Weighed): ListedBlock {
  const entry = described(weighed);
  return entry.type === "resource_link" ? { type: entry.type, uri: entry.uri } : entry;
}

/** Describes a block briefly. */
function described({ block, payload, text, large }: Weighed): ListedBlock {
  const { type, mimeType, uri, name, resource } = block;
  const inner = isRecord(resource) ? resource : {};
  const fields = { type, mimeType: mimeType ?? inner.mimeType, uri: uri ?? inner.uri, name };
  const short = Object.entries(fields).flatMap(([key, field]) =>
    typeof field !== "string"
      ? []
      : [[key, field.length <= LONGEST_FIELD ? field : `${headOf(field, LONGEST_FIELD)}…`]],
  );
  const size =
    large !== undefined
      ? Number(large.about.size)
      : payload?.kind === "bytes"
        ? Buffer.byteLength(payload.data, "base64")
        : payload !== undefined || text.length > LONGEST_FIELD
          ? Buffer.byteLength(payload?.data ?? text)
          : undefined;
  return { ...Object.fromEntries(short), ...(size === undefined ? {} : { size }) };
}
