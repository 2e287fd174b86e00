// Records a run by wrapping models, tools and approvers.
import { toTrunklineError } from "@trunkline/core";
import type { Model, ModelEvent } from "../model/model.js";
import type { Approver, Tool } from "../tools/tool.js";
import { messageHash, type RunSink } from "./run-file.js";

/** Messages already written to a sink. */
const known = new WeakMap<RunSink, Set<string>>();

/**
 * Wraps a model so that each turn is recorded, including failed ones. A turn that is abandoned midway is not recorded.
 */
export function recordModel(model: Model, sink: RunSink): Model {
  return {
    provider: model.provider,
    id: model.id,
    async *stream(request) {
      const seen = known.get(sink) ?? new Set<string>();
      known.set(sink, seen);
      const messages = request.messages.map((message) => {
        const hash = messageHash(message, sink.redactor);
        if (!seen.has(hash)) sink.write({ type: "message", hash, message });
        seen.add(hash);
        return hash;
      });
      const turn = {
        type: "turn",
        model: { provider: model.provider, id: model.id },
        messages,
        tools: (request.tools ?? []).map(({ name }) => name),
      };
      const events: ModelEvent[] = [];
      try {
        for await (const event of model.stream(request)) {
          addEvent(events, event);
          if (event.type === "finish") sink.write({ ...turn, events });
          yield event;
        }
      } catch (error) {
        const { code, message, hint, retryable } = toTrunklineError(error);
        if (code !== "ABORTED") {
          sink.write({ ...turn, events, error: { code, message, retryable, hint } });
        }
        throw error;
      }
    },
  };
}

/** Merges pieces of the same text, because the network decides where it is split. */
function addEvent(events: ModelEvent[], event: ModelEvent): void {
  const last = events.at(-1);
  const plain = (item: ModelEvent | undefined) =>
    (item?.type === "text" || item?.type === "reasoning") && item.providerData === undefined ? item : undefined;
  const before = plain(last);
  const now = plain(event);
  if (before !== undefined && now !== undefined && before.type === now.type) {
    events[events.length - 1] = { ...before, text: before.text + now.text };
  } else events.push(event);
}

/** Wraps a tool so that its definition and each call are recorded. */
export function recordTool(tool: Tool, sink: RunSink): Tool {
  const { name, title, description, inputSchema, readOnly } = tool;
  sink.write({ type: "tool", tool: { name, title, description, inputSchema, readOnly } });
  return {
    name,
    title,
    description,
    inputSchema,
    readOnly,
    async call(args, options) {
      try {
        const output = await tool.call(args, options);
        sink.write({ type: "call", tool: name, args, output });
        return output;
      } catch (error) {
        const { code, message, hint, retryable } = toTrunklineError(error);
        sink.write({
          type: "call",
          tool: name,
          args,
          error: { code, message, retryable, hint },
        });
        throw error;
      }
    },
  };
}

/** Wraps an approver so that its decisions are recorded. */
export function recordApprover(approve: Approver, sink: RunSink): Approver {
  return async (call, options) => {
    const approval = await approve(call, options);
    sink.write({ type: "approval", tool: call.tool.name, args: call.args, approval });
    return approval;
  };
}
