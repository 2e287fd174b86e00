// The worker thread that runs the model. The native call is synchronous and would block the main thread. One text at a
// time: int8 models scale by the contents of a batch, so the same text would get a different vector next to others.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import { contentIdOf, messageOf, parseJson, TrunklineError } from "@trunkline/core";
import type { InferenceSession, Tensor } from "onnxruntime-node";
import type { FromWorker, PinnedFile, ToWorker, WorkerSetup } from "./inference-messages.js";
import { meanPool, toUnitLength } from "./vectors.js";
import { createTokenizer, type Tokenizer } from "./wordpiece.js";

/** A file that does not match its pinned hash. */
class DamagedFile extends Error {}

interface Model {
  readonly tokenizer: Tokenizer;
  readonly session: InferenceSession;
  readonly Tensor: typeof Tensor;
}

/** onnxruntime logs to the process's stderr; only errors should go there. */
const LOG_ERRORS_ONLY = 3;

const port = parentPort;
if (port === null) throw new TrunklineError("INTERNAL", "This file only runs in a worker thread.");
const send = (message: FromWorker, transfer: readonly ArrayBuffer[] = []) => port.postMessage(message, transfer);
// Only the main thread sets it.
const setup = workerData as WorkerSetup;

try {
  const model = await load();
  // In order: nothing may use the session after it is released.
  let work: Promise<void> = Promise.resolve();
  port.on("message", (message: ToWorker) => {
    work = work.then(() => (message.type === "close" ? close(model) : answer(message, model)));
  });
  send({ type: "ready" });
} catch (error) {
  send({ type: "failed", reason: messageOf(error), damaged: error instanceof DamagedFile });
}

async function load(): Promise<Model> {
  const reading = Promise.all([readPinned(setup.weights), readPinned(setup.tokenizer)]);
  // Reported when it is awaited, even if the native code cannot be loaded either.
  reading.catch(() => {});
  // Native CommonJS: loaded here, so a load failure is reported as an answer, and while the files are being read.
  const { InferenceSession, Tensor } = createRequire(import.meta.url)(
    setup.runtime,
  ) as typeof import("onnxruntime-node");
  const [weights, definition] = await reading;
  const tokenizer = createTokenizer(parseJson(definition.toString("utf8")));
  const session = await InferenceSession.create(weights, {
    intraOpNumThreads: setup.threads,
    interOpNumThreads: 1,
    // By default idle threads spin, which makes two of them slower than one on a busy machine.
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

/** Reads and verifies a file in one step, so the verified bytes are the ones used. */
async function readPinned({ path, sha256 }: PinnedFile): Promise<Buffer> {
  const bytes = await readFile(path);
  if (contentIdOf(bytes) !== sha256) throw new DamagedFile(`${path} does not have the expected SHA-256.`);
  return bytes;
}
