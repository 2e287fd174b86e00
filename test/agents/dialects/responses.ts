// OpenAI Responses, as Codex uses it: plain functions, namespaces, tools found with `tool_search`, and code mode, in which
// the model calls one custom tool with a program.
import { CALL, type Dialect, events, json, type Move, newId } from "./dialect.js";

interface Tool {
  readonly type: string;
  readonly name?: string;
  readonly tools?: readonly Tool[];
}

interface Item {
  readonly type: string;
  readonly role?: string;
  readonly tools?: readonly Tool[];
  readonly output?: unknown;
}

interface Request {
  readonly model?: string;
  readonly stream?: boolean;
  readonly tools?: readonly Tool[];
  readonly input?: string | readonly Item[];
}

const CALLS: ReadonlySet<string> = new Set(["function_call", "custom_tool_call", "tool_search_call"]);

function namesOf(tools: readonly Tool[]): string[] {
  return tools.flatMap(({ type, name = type, tools: inner = [] }) =>
    type === "namespace" ? inner.map((tool) => `${name}::${tool.name}`) : [name],
  );
}

function itemOf(move: Move) {
  if (typeof move === "string") {
    const content = [{ type: "output_text", text: move, annotations: [] }];
    return { type: "message", id: newId("msg"), role: "assistant", status: "completed", content };
  }
  const call = { id: newId("item"), call_id: newId("call"), status: "completed" };
  if (move.tool === "tool_search")
    return { type: "tool_search_call", ...call, execution: "client", arguments: move.args };
  if (move.program !== undefined) return { type: "custom_tool_call", ...call, name: move.tool, input: move.program };
  const [name = "", namespace] = move.tool.split("::").reverse();
  return { type: "function_call", ...call, name, namespace, arguments: JSON.stringify(move.args) };
}

export const responses: Dialect = {
  serves: (path) => path.endsWith("/responses"),
  read(body) {
    const { tools = [], input = [] } = body as Request;
    const items = typeof input === "string" ? [] : input;
    return {
      tools: [...namesOf(tools), ...items.flatMap((item) => namesOf(item.tools ?? []))],
      items: items.flatMap((item): unknown[] => {
        if (CALLS.has(item.type)) return [CALL];
        return item.type.endsWith("_output") ? [item.output ?? item.tools] : [];
      }),
    };
  },
  reply(move, { body }) {
    const { model, stream } = body as Request;
    const item = itemOf(move);
    const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
    const response = { id: newId("resp"), object: "response", created_at: 1_700_000_000, model, usage };
    const done = { ...response, status: "completed", output: [item] };
    if (stream !== true) return json(done);
    const list = [
      { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
      { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress" } },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: done },
    ];
    return events(list.map((event, index) => ({ ...event, sequence_number: index })));
  },
};
