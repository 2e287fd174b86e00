// The composite tools with a real store and real servers, as a client would call them.
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { CompositeOptions } from "../../src/composite/composite-answer.js";
import { createCompositeTools } from "../../src/composite/composite-tools.js";
import type { Exchange } from "../../src/interfaces/exchange.js";
import type { Params } from "../../src/interfaces/operation.js";
import type { ToolResult } from "../../src/interfaces/served-tool.js";
import { CallLog } from "../../src/journal/journal.js";
import { createRunner } from "../../src/operations/run-operation.js";
import { type Bench, exchangeOf, openBench, stdio } from "../operations/support.js";

/** Answers are read as a test needs them: any field may be present. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export type Answer = any;

export interface Office extends AsyncDisposable {
  readonly bench: Bench;
  call(tool: string, args: Params, exchange?: Exchange): Promise<ToolResult>;
  /** The structured answer, which must equal the text. */
  query(args: Params | readonly unknown[], exchange?: Exchange): Promise<Answer>;
  execute(args: Params | readonly unknown[], exchange?: Exchange): Promise<Answer>;
  session(args: Params, exchange?: Exchange): Promise<Answer>;
  /** A second set of tools on the same store: what a restart would find. */
  restarted(): Office;
}

/** The servers used in the examples. */
export const OFFICE_SERVERS = ["github", "slack", "filesystem"].map((name) =>
  stdio("office", { name }, ["--as", name]),
);

export async function openOffice(
  options: Partial<CompositeOptions> & Parameters<typeof openBench>[0] = {},
): Promise<Office> {
  const bench = await openBench({ servers: OFFICE_SERVERS, ...options });
  return officeOf(bench, options);
}

function officeOf(bench: Bench, options: Partial<CompositeOptions>): Office {
  const tools = createCompositeTools({
    registry: bench.registry,
    store: async (principal) => (await bench.store()).viewedBy(principal),
    workspace: bench.workspace,
    run: createRunner({}),
    log: new CallLog({}),
    ...options,
  });
  const call: Office["call"] = async (name, args, exchange = exchangeOf()) => {
    const tool = tools.find(({ definition }) => definition.name === name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return await tool.call(args, exchange);
  };
  const answer = async (name: string, args: Params, exchange?: Exchange): Promise<Answer> =>
    answerIn(await call(name, args, exchange));
  const steps = (args: Params | readonly unknown[], list: string): Params =>
    Array.isArray(args) ? { [list]: args } : (args as Params);
  return {
    bench,
    call,
    query: (args, exchange) => answer("query", steps(args, "steps"), exchange),
    execute: (args, exchange) => answer("execute", steps(args, "operations"), exchange),
    session: (args, exchange) => answer("session", args, exchange),
    restarted: () => officeOf(bench, options),
    [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose](),
  };
}

/** The answer, after checking that text and structured content agree. */
export function answerIn(result: ToolResult): Answer {
  const value: unknown = JSON.parse(textIn(result));
  if (result.structuredContent !== undefined && JSON.stringify(result.structuredContent) !== textIn(result)) {
    throw new Error("text and structuredContent differ");
  }
  return value;
}

/** The text a model gets. */
export function textIn(result: ToolResult): string {
  const [first] = result.content;
  if (first?.type !== "text" || typeof first.text !== "string") throw new Error("no text comes first");
  return first.text;
}

/** Tokens of the text a model gets. */
export function tokensOf(result: ToolResult): number {
  return countTokens(textIn(result), { disallowedSpecial: new Set() });
}
