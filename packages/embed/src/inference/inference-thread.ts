// The worker thread that runs the model. The native call is synchronous, so that on the main thread it would hold up
// everything else. One text at a time: int8 models scale by what is in a batch, and the same text would come out
// differently beside others.
import { readFile } from "node:fs/promises";
import { parentPort, workerData } from "node:worker_threads";
import { contentIdOf, messageOf, parseJson, TrunklineError } from "@trunkline/core";
import type { InferenceSession, Tensor } from "onnxruntime-node";
import type { FromWorker, PinnedFile, ToWorker, WorkerSetup } from "./inference-messages.js";
import { meanPool, toUnitLength } from "./vectors.js";
import { createTokenizer, type Tokenizer } from "./wordpiece.js";

/** A file that is not the one that was pinned. */
class DamagedFile extends Error {}

/** What it takes to embed a text. */
interface Model {
  readonly tokenizer: Tokenizer;
  readonly session: InferenceSession;
  readonly Tensor: typeof Tensor;
}

/** onnxruntime's own lines go to the process's stderr; only errors should. */
const LOG_ERRORS_ONLY = 3;

const port = parentPort;
if (port === null) throw new TrunklineError("INTERNAL", "This file runs in a worker thread only.");
const send = (message: FromWorker, transfer: readonly ArrayBuffer[] = []) => port.postMessage(message, transfer);
// The main thread is its only writer.
const setup = workerData as WorkerSetup;

try {
  const model = await load();
  // In order: nothing may use the session after it was released.
  let work: Promise<void> = Promise.resolve();
  port.on("message", (message: ToWorker) => {
    work = work.then(() => (message.type === "close" ? close(model) : answer(message, model)));
  });
  send({ type: "ready" });
} catch (error) {
  send({ type: "failed", reason: messageOf(error), damaged: error instanceof DamagedFile });
}

async function load(): Promise<Model> {
  const [weights, definition] = await Promise.all([readPinned(setup.weights), readPinned(setup.tokenizer)]);
  const tokenizer = createTokenizer(parseJson(definition.toString("utf8")));
  // Native code: loaded here, so that its failure is an answer.
  const { InferenceSession, Tensor } = await import("onnxruntime-node");
  const session = await InferenceSession.create(weights, {
    intraOpNumThreads: setup.threads,
    interOpNumThreads: 1,
    // By default idle threads spin, which on a busy machine makes two of them slower than one.
    extra: { session: { intra_op: { allow_spinning: "0" } } },
    logSeverityLevel: LOG_ERRORS_ONLY,
  });
  return { tokenizer, session, Tensor };
}

async function close({ session }: Model): Promise<void> {
  try {
    await session.release();
  } finally {
    port?.close();
  }
}

async function answer({ id, text }: Extract<ToWorker, { type: "embed" }>, model: Model): Promise<void> {
  const { tokenizer, session, Tensor } = model;
  try {
    const ids = tokenizer.encode(text, setup.maxTokens);
    const shape = [1, ids.length];
    const { last_hidden_state: output } = await session.run({
      input_ids: new Tensor("int64", BigInt64Array.from(ids, BigInt), shape),
      attention_mask: new Tensor("int64", new BigInt64Array(ids.length).fill(1n), shape),
      token_type_ids: new Tensor("int64", new BigInt64Array(ids.length), shape),
    });
    if (!(output?.data instanceof Float32Array) || output.data.length !== ids.length * setup.dimensions)
      throw new TrunklineError("INTERNAL", "The model's output does not have the expected shape.");
    const vector = toUnitLength(meanPool(output.data, setup.dimensions));
    send({ type: "vector", id, vector }, [vector.buffer]);
  } catch (error) {
    send({ type: "error", id, reason: messageOf(error) });
  }
}

/** Read and checked in one go: what is used is what was checked. */
async function readPinned({ path, sha256 }: PinnedFile): Promise<Buffer> {
  const bytes = await readFile(path);
  if (contentIdOf(bytes) !== sha256) throw new DamagedFile(`${path} does not have the expected SHA-256.`);
  return bytes;
}
