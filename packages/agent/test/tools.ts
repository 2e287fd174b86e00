import type { AgentEvent, AgentRequest, Message, Model, ModelRequest, Tool, ToolOutput } from "@trunkline/agent";
import { approveAll, echoModel, textMessage } from "@trunkline/agent";

/** Creates a tool that computes its result with a function and counts its calls. */
export function fakeTool(
  title: string,
  answer: (args: Readonly<Record<string, unknown>>, signal?: AbortSignal) => ToolOutput | Promise<ToolOutput> = () => ({
    text: "ok",
  }),
  rest: Partial<Tool> = {},
): Tool & { calls: Readonly<Record<string, unknown>>[] } {
  const calls: Readonly<Record<string, unknown>>[] = [];
  return {
    name: title.replaceAll(".", "_"),
    title,
    description: `The tool ${title}`,
    inputSchema: { type: "object" },
    readOnly: true,
    ...rest,
    calls,
    async call(args, { signal }) {
      calls.push(args);
      return await answer(args, signal);
    },
  };
}

/** Builds the lines of an echo script. */
export function script(...lines: readonly object[]): string {
  return lines.map((line) => JSON.stringify(line)).join("\n");
}

/** Creates a request with a scripted model, and collects the events. */
export function scripted(
  lines: readonly object[],
  rest: Partial<AgentRequest> & { prompt?: string } = {},
): AgentRequest & { events: AgentEvent[] } {
  const events: AgentEvent[] = [];
  const { prompt = "do it", ...request } = rest;
  return {
    model: echoModel({ script: script(...lines) }),
    messages: [textMessage("user", prompt)],
    tools: [],
    approve: approveAll,
    onEvent: (event) => events.push(event),
    events,
    ...request,
  };
}

/** Creates a scripted model that also records its requests. */
export function watchedModel(...lines: object[]): Model & { requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  const echo = echoModel({ script: script(...lines) });
  return {
    provider: echo.provider,
    id: echo.id,
    requests,
    stream(request) {
      requests.push(request);
      return echo.stream(request);
    },
  };
}

/** Returns the tool results, in the order of the conversation. */
export function resultTexts(messages: readonly Message[]): string[] {
  return messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "tool-result" ? [part.text] : [])));
}
