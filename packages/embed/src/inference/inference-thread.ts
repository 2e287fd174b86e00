// The worker thread that runs the model. The native call is synchronous and would block the main thread. One text at a
// time: int8 models scale by the contents of a batch, so the same text would get a different vector next to others.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import { contentIdOf, messageOf, parseJson, TrunklineError } from "@trunkline/core";
import { serveRpc, Transferred } from "@trunkline/core/threads";
import type { InferenceSession, Tensor } from "onnxruntime-node";
import type { PinnedFile, WorkerSetup } from "./inference-messages.js";
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
// Only the main thread sets it.
const setup = workerData as WorkerSetup;

const loading = load();
/** In order: nothing may use the session after it is released. */
let work: Promise<unknown> = loading.catch(() => {});

function inOrder<T>(task: () => Promise<T>): Promise<T> {
  const done = work.then(task);
  work = done.catch(() => {});
  return done;
}

serveRpc(
  port,
  {
    open: async () => {
      try {
        await loading;
      } catch (error) {
        throw new TrunklineError("IO", messageOf(error), { data: { damaged: error instanceof DamagedFile } });
      }
    },
    embed: (text: string) =>
      inOrder(async () => {
        const vector = await embedText(text, await loading);
        return new Transferred(vector, [vector.buffer]);
      }),
    end: () =>
      inOrder(async () => {
        const model = await loading.catch(() => undefined);
        try {
          await model?.session.release();
        } finally {
          port.close();
        }
      }),
  },
  { owner: "embedder" },
);

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

async function embedText(text: string, { tokenizer, session, Tensor }: Model): Promise<Float32Array<ArrayBuffer>> {
  const ids = tokenizer.encode(text, setup.maxTokens);
  const shape = [1, ids.length];
  const { last_hidden_state: output } = await session.run({
    input_ids: new Tensor("int64", BigInt64Array.from(ids, BigInt), shape),
    attention_mask: new Tensor("int64", new BigInt64Array(ids.length).fill(1n), shape),
    token_type_ids: new Tensor("int64", new BigInt64Array(ids.length), shape),
  });
  if (!(output?.data instanceof Float32Array) || output.data.length !== ids.length * setup.dimensions)
    throw new TrunklineError("INTERNAL", "The model's output does not have the expected shape.");
  return toUnitLength(meanPool(output.data, setup.dimensions));
}

/** Reads and verifies a file in one step, so the verified bytes are the ones used. */
async function readPinned({ path, sha256 }: PinnedFile): Promise<Buffer> {
  const bytes = await readFile(path);
  if (contentIdOf(bytes) !== sha256) throw new DamagedFile(`${path} does not have the expected SHA-256.`);
  return bytes;
}
