// One operation as a step of `query`, `execute` or `session`, the way a client would run it.
import type { Json, OperationAnswer } from "@trunkline/console/contract";
import { isRecord, parseJson } from "@trunkline/core";
import type { Exchange, Service } from "@trunkline/gateway";

/** A page has no context window. What is sent whole is limited by its size. */
const MAX_TOKENS = 1_000_000_000;

interface OperationStep {
  readonly op: string;
  readonly params: Readonly<Record<string, Json>>;
}

/** Runs an operation. An operation that fails is an answer with `error`. Rejects if it could not be run at all. */
export async function runOperationStep(
  service: Service,
  step: OperationStep,
  exchange: Exchange,
): Promise<OperationAnswer> {
  const startedMs = performance.now();
  const kind = await kindOf(step.op);
  const result = await service.handle("tools/call", callOf(kind, step), exchange);
  exchange.signal.throwIfAborted();
  const durationMs = performance.now() - startedMs;
  const value = answerIn(result);
  const entry = kind === "write" && isRecord(value) && Array.isArray(value.results) ? value.results[0] : value;
  if (result.isError === true) return { error: errorIn(entry) ?? UNEXPLAINED, durationMs };
  return { result: (kind === "write" ? withoutOutcome(entry) : entry) as Json, durationMs }; // It was parsed or sent as JSON.
}

const UNEXPLAINED = { code: "INTERNAL", message: "The operation failed without saying why." };

type Kind = "read" | "write" | "session";

/** Which tool runs an operation. `execute` also runs tools of servers that only read. */
async function kindOf(op: string): Promise<Kind> {
  if (op === "describe") return "read";
  const { storeOperations } = await import("@trunkline/store/contract");
  const own = storeOperations.find(({ name }) => name === op);
  return own?.kind === "read" || own?.kind === "session" ? own.kind : "write";
}

function callOf(kind: Kind, { op, params }: OperationStep): Readonly<Record<string, unknown>> {
  switch (kind) {
    case "read":
      return { name: "query", arguments: { steps: [{ op, params }], max_tokens: MAX_TOKENS } };
    case "write":
      return { name: "execute", arguments: { operations: [{ op, params }], max_tokens: MAX_TOKENS } };
    case "session":
      return { name: "session", arguments: { action: op, params } };
  }
}

/** The value of a composite tool's answer. Only objects are structured content. */
function answerIn({ structuredContent, content }: Readonly<Record<string, unknown>>): unknown {
  if (structuredContent !== undefined) return structuredContent;
  const [first] = Array.isArray(content) ? content : [];
  const text = isRecord(first) && typeof first.text === "string" ? first.text : "";
  return parseJson(text) ?? text;
}

function errorIn(value: unknown): OperationAnswer["error"] {
  if (!isRecord(value) || !isRecord(value.error)) return undefined;
  const { code, message, hint } = value.error;
  if (typeof code !== "string" || typeof message !== "string") return undefined;
  return { code, message, ...(typeof hint === "string" ? { hint } : {}) };
}

/** The result of an operation without the fields that `execute` adds to it. */
function withoutOutcome(entry: unknown): unknown {
  if (!isRecord(entry)) return entry;
  const { op: _, success: __, ...fields } = entry;
  return Object.keys(fields).length === 1 && "result" in fields ? fields.result : fields;
}
