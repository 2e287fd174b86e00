// `--surface composite`: query, execute and session in place of a list of tools, answered within this process by the service
// that `trunkline serve` serves.
import type { Tool } from "@trunkline/agent";
import { type Channel, renderBlocks } from "@trunkline/client";
import { isRecord, TrunklineError } from "@trunkline/core";
import { type OpenedService, openService } from "../serving/open-service.js";
import { ownExchange } from "../serving/own-exchange.js";
import type { CommandContext } from "../terminal/context.js";
import { toOutput } from "./select-tools.js";

/** How the service is reached. */
export interface CompositeToolsOptions {
  readonly mcp: string | undefined;
  readonly store: string | undefined;
  readonly channel: Channel | undefined;
  /** The name that the journal has for whoever asks. */
  readonly name: string;
}

/** The tools, and the service that stands behind them. */
export interface CompositeTools extends AsyncDisposable {
  readonly tools: readonly Tool[];
  readonly opened: OpenedService;
}

/** What the model is given; the fourth only tests a connection. */
const GIVEN = new Set(["query", "execute", "session"]);

/** Opens the service and takes its tools. */
export async function openCompositeTools(
  context: CommandContext,
  { mcp, store, channel, name }: CompositeToolsOptions,
): Promise<CompositeTools> {
  const opened = openService(context, { mcp, store, once: true });
  try {
    // A file that was named and cannot be used is wrong usage, not a failed operation.
    await opened.backends.config();
    const exchange = (signal: AbortSignal) => ownExchange(name, signal, channel);
    const { tools } = await opened.service.handle("tools/list", {}, exchange(context.signal));
    const listed = (Array.isArray(tools) ? tools : []).filter(isRecord).filter((tool) => GIVEN.has(String(tool.name)));
    if (listed.length !== GIVEN.size) throw new TrunklineError("INTERNAL", "The service lacks a composite tool.");
    return {
      opened,
      tools: listed.map((tool) => ({
        name: String(tool.name),
        title: String(tool.name),
        description: String(tool.description),
        inputSchema: isRecord(tool.inputSchema) ? tool.inputSchema : {},
        readOnly: isRecord(tool.annotations) && tool.annotations.readOnlyHint === true,
        async call(args, { signal = context.signal, onProgress }) {
          const request = { ...exchange(signal), ...(onProgress === undefined ? {} : { onProgress }) };
          const raw = await opened.service.handle("tools/call", { name: tool.name, arguments: args }, request);
          const rendered = await renderBlocks(raw, { home: context.home, logger: context.logger });
          return toOutput(rendered);
        },
      })),
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    };
  } catch (error) {
    await opened[Symbol.asyncDispose]();
    throw error;
  }
}
