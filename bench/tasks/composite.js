// How a capable model uses the composite surface: what it sends, and how it finds out what it does not know.

/** @typedef {import("./scripted-model.js").Call} Call */
/** @typedef {import("./scripted-model.js").Outcome} Outcome */
/** @typedef {{ op: string, params?: Record<string, unknown>, as?: string, for_each?: string }} Step */

/** @param {Step[]} steps @returns {Call} */
export function query(...steps) {
  return { tool: "trunkline.query", args: { steps } };
}

/** @param {Step[]} operations @returns {Call} */
export function execute(...operations) {
  return { tool: "trunkline.execute", args: { operations } };
}

/** Limits the answer of a call to this many tokens. @param {number} maxTokens @param {Call} call @returns {Call} */
export function within(maxTokens, { tool, args }) {
  return { tool, args: { ...args, max_tokens: maxTokens } };
}

/**
 * Finds operations by purpose, all in one turn. The model does not know them beforehand, so it asks in another turn if
 * the answer lacks their parameters, and if an operation was not found, it reads the server's whole list. Returns
 * whether the first answer was enough.
 * @param {Readonly<Record<string, readonly string[]>>} needs operations by what the model would ask for
 * @returns {Generator<Call[], boolean, Outcome[]>}
 */
export function* learn(needs) {
  const found = yield* describe(Object.keys(needs).map((find) => ({ find })));
  const lines = found.flatMap(({ operations }) => operations);
  const wanted = [...new Set(Object.values(needs).flat())];
  const missed = wanted.filter((op) => !lines.some(({ name }) => name === op));
  if (missed.length > 0) {
    yield* describe([{}]);
    yield* describe([...new Set(missed.map((op) => op.slice(0, op.indexOf("."))))].map((target) => ({ target })));
  }
  const unclear = wanted.filter((op) => (lines.find(({ name }) => name === op)?.signature ?? "…").endsWith("…"));
  if (unclear.length > 0) yield* describe(unclear.map((target) => ({ target })));
  return unclear.length === 0;
}

/**
 * @param {readonly Record<string, string>[]} asked
 * @returns {Generator<Call[], { operations: { name: string, signature?: string }[] }[], Outcome[]>}
 */
function* describe(asked) {
  const answer = yield* ask(query(...asked.map((params) => ({ op: "describe", params }))));
  const value = JSON.parse(answer.text);
  return asked.length === 1 ? [value] : value.steps.map((/** @type {{ result: unknown }} */ step) => step.result);
}

/** Takes a turn with one call. @param {Call} call @returns {Generator<Call[], Outcome, Outcome[]>} */
export function* ask(call) {
  const [outcome] = yield [call];
  if (outcome === undefined) throw new Error(`${call.tool} returned no result.`);
  return outcome;
}

/** Returns the value of a one-step answer. @param {Outcome} outcome */
export function resultOf({ text }) {
  return JSON.parse(text);
}

/** Returns the values of an answer with several steps or operations. @param {Outcome} outcome */
export function resultsOf({ text }) {
  const { steps, results } = JSON.parse(text);
  return (steps ?? results).map((/** @type {{ result: unknown }} */ { result }) => result);
}

/** Returns the hash of a direct tool's result that was stored because it is large. @param {Outcome} outcome */
export function handleIn({ text }) {
  const isStored = /"truncated": ?true|full result is stored/.test(text);
  return isStored ? /\bhash\W+([0-9a-f]{12,64})\b/.exec(text)?.[1] : undefined;
}
