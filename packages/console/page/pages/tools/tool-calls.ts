// Calls of tools, kept while the person looks at other pages: the answer to a call's question is given there.
import type { ToolAnswer } from "@trunkline/console/contract";
import { useEffect, useState } from "preact/hooks";
import { ask } from "../../kit/live.js";
import { toError } from "../../kit/parts.js";
import type { FormValue } from "../../kit/schema-form.js";

export interface ToolCall {
  readonly arguments: FormValue;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  readonly answer?: ToolAnswer;
  /** Why there is no answer. */
  readonly error?: Error;
  /** How many questions waited when it began. */
  readonly questions: number;
  cancel(): void;
}

interface CalledTool {
  readonly workspace: string;
  readonly server: string;
  readonly tool: string;
}

/** The last calls, by tool. Results can be large, so only a few are kept. */
const calls = new Map<string, ToolCall>();
const MAX_CALLS = 10;
const listeners = new Set<() => void>();

function keyOf({ workspace, server, tool }: CalledTool): string {
  return JSON.stringify([workspace, server, tool]);
}

function set(key: string, call: ToolCall): void {
  calls.delete(key);
  calls.set(key, call);
  for (const [old, { answer, error }] of calls) {
    if (calls.size <= MAX_CALLS) break;
    if (answer !== undefined || error !== undefined) calls.delete(old);
  }
  for (const listener of listeners) listener();
}

/** Calls a tool. An earlier call of the same tool is replaced. */
export function startCall(called: CalledTool, args: FormValue, questions: number): void {
  const { workspace, server, tool } = called;
  const key = keyOf(called);
  const leaving = new AbortController();
  const call: ToolCall = { arguments: args, startedMs: Date.now(), questions, cancel: () => leaving.abort() };
  set(key, call);
  const finish = (outcome: Partial<ToolCall>) => {
    if (calls.get(key) === call) set(key, { ...call, ...outcome });
  };
  ask("tools/call", { workspace, server, tool, arguments: args }, leaving.signal).then(
    (answer) => finish({ answer }),
    (error: unknown) =>
      finish({ error: leaving.signal.aborted ? new Error("You stopped this call.") : toError(error) }),
  );
}

export function useCall(called: CalledTool): ToolCall | undefined {
  const [, setTurn] = useState(0);
  useEffect(() => {
    const listener = () => setTurn((turn) => turn + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return calls.get(keyOf(called));
}
