// A service for protocol tests: its tools do what a test says and record what happened.

import { setTimeout as sleep } from "node:timers/promises";
import { RPC_CODES, RpcError } from "@trunkline/protocol";
import { HANG_MS } from "../../../../test/support/hang.js";
import type { Caller, Exchange } from "../../src/interfaces/exchange.js";
import type { McpService, ServiceEvent, TaskSupport } from "../../src/interfaces/mcp-service.js";

type Args = Readonly<Record<string, unknown>>;

export interface TestService extends McpService {
  readonly released: Caller[];
  readonly levels: string[];
  /** Aborted calls of `hang`, by tag. */
  readonly aborted: string[];
  /** Calls that have started, by tag. */
  readonly started: string[];
  readonly exchanges: Exchange[];
  /** How many questions have been answered. */
  readonly answered: number;
  /** Lets all calls of `gate` continue. */
  openGate(): void;
  announce(event: ServiceEvent): void;
  touch(uri: string): void;
  readonly listeners: number;
  readonly watched: ReadonlyMap<string, unknown>;
}

/** Builds a tool result with this text. */
export const said = (text: string) => ({ content: [{ type: "text", text }] });

const nameSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

/** `support` is the task support of each tool. */
export function createTestService(support: Readonly<Record<string, TaskSupport>> = {}): TestService {
  const listeners = new Set<(event: ServiceEvent) => void>();
  const watched = new Map<string, Set<() => void>>();
  const released: Caller[] = [];
  const levels: string[] = [];
  const aborted: string[] = [];
  const started: string[] = [];
  const exchanges: Exchange[] = [];
  let answered = 0;
  let openGate = () => {};
  const gate = new Promise<void>((resolve) => {
    openGate = resolve;
  });

  const tools: Readonly<Record<string, (args: Args, exchange: Exchange) => Promise<Record<string, unknown>>>> = {
    echo: async ({ text }) => ({ ...said(String(text)), unknownField: { kept: true } }),
    whoami: async (_, { caller, meta, channel }) =>
      said(JSON.stringify({ caller, meta, can: Object.keys(channel).sort() })),
    progress: async ({ steps = 3 }, { onProgress, channel }) => {
      for (let step = 1; step <= Number(steps); step += 1) {
        onProgress?.({ progress: step, total: Number(steps), message: `step ${step}` });
        // The same progress again, as the hub reports it: it must not be sent twice.
        channel.progress?.({ server: "s", progress: step, total: Number(steps) });
      }
      return said("done");
    },
    log: async ({ level = "info" }, { channel }) => {
      channel.log?.({ server: "s", level: String(level), data: "logged" });
      return said("done");
    },
    hang: async ({ tag = "" }, { signal }) => {
      started.push(String(tag));
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      aborted.push(String(tag));
      throw signal.reason;
    },
    gate: async () => {
      await gate;
      return said("through the gate");
    },
    wait: async ({ ms = 50, tag = "" }, { signal }) => {
      started.push(String(tag));
      await sleep(Number(ms), undefined, { signal });
      return said(`waited ${String(tag)}`);
    },
    ask: async ({ question = "Your name?", key }, { channel, signal }) => {
      if (channel.ask === undefined || channel.abilities?.elicitation === undefined) {
        return { ...said("nobody to ask"), isError: true };
      }
      const params = { message: String(question), requestedSchema: nameSchema };
      const asked = { server: "s", signal, ...(key === undefined ? {} : { key: String(key) }) };
      const answer = await channel.ask({ method: "elicitation/create", params }, asked);
      answered += 1;
      return said(JSON.stringify(answer));
    },
    ask_then_report: async (_, exchange) => {
      const answer = await (tools.ask as NonNullable<(typeof tools)["ask"]>)({}, exchange);
      exchange.onProgress?.({ progress: 1, total: 2 });
      exchange.channel.log?.({ server: "s", level: "info", data: "half" });
      exchange.onProgress?.({ progress: 2, total: 2 });
      return answer;
    },
    ask_all: async (_, { channel, signal }) => {
      const asked = { server: "s", signal };
      const params = { message: "Your name?", requestedSchema: nameSchema };
      const answers = await Promise.all([
        channel.ask?.({ method: "elicitation/create", params }, asked),
        channel.ask?.({ method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } }, asked),
        channel.ask?.({ method: "roots/list" }, asked),
      ]);
      return said(JSON.stringify(answers));
    },
    ask_twice: async (_, exchange) => {
      const first = await (tools.ask as NonNullable<(typeof tools)["ask"]>)({ question: "First?" }, exchange);
      const second = await (tools.ask as NonNullable<(typeof tools)["ask"]>)({ question: "Second?" }, exchange);
      return said(JSON.stringify([first, second]));
    },
    ask_then_wait: async ({ ms }, exchange) => {
      const answer = await (tools.ask as NonNullable<(typeof tools)["ask"]>)({}, exchange);
      await sleep(Number(ms), undefined, { signal: exchange.signal });
      return answer;
    },
    ask_then_gate: async (_, exchange) => {
      const answer = await (tools.ask as NonNullable<(typeof tools)["ask"]>)({}, exchange);
      await gate;
      return answer;
    },
    broken: async () => {
      throw new Error("a secret of the inside");
    },
    refused: async () => {
      throw new RpcError(RPC_CODES.missingCapability, "lacks sampling", {
        data: { requiredCapabilities: { sampling: {} } },
      });
    },
  };

  return {
    released,
    levels,
    aborted,
    started,
    exchanges,
    openGate,
    watched,
    get answered() {
      return answered;
    },
    get listeners() {
      return listeners.size;
    },
    announce: (event) => {
      for (const listener of [...listeners]) listener(event);
    },
    touch: (uri) => {
      for (const listener of [...(watched.get(uri) ?? [])]) listener();
    },
    info: { name: "test-service", version: "1.2.3" },
    instructions: async () => "Be kind.",
    capabilities: (revision) => ({
      tools: { listChanged: true },
      resources: { subscribe: true },
      ...(revision < "2026-07-28" ? { logging: {} } : {}),
    }),
    handle: async (method, params, exchange) => {
      exchanges.push(exchange);
      if (method === "tools/list") return { tools: Object.keys(tools).map((name) => ({ name, inputSchema: {} })) };
      if (method === "resources/read") return { contents: [], ttlMs: 1_000 };
      if (method !== "tools/call") throw new RpcError(RPC_CODES.methodNotFound, `Method not found: ${method}`);
      const tool = tools[String(params.name)];
      if (tool === undefined) throw new RpcError(RPC_CODES.invalidParams, `Unknown tool: ${String(params.name)}`);
      return await tool((params.arguments ?? {}) as Args, exchange);
    },
    taskSupport: (name) => support[name],
    onEvent: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    subscribe: async (uri, listener) => {
      if (uri === "test://missing") throw new RpcError(RPC_CODES.invalidParams, "no such resource");
      const all = watched.get(uri) ?? new Set();
      watched.set(uri, all.add(listener));
      return async () => {
        all.delete(listener);
        if (all.size === 0) watched.delete(uri);
      };
    },
    setLogLevel: async (_, level) => void levels.push(level),
    release: async (caller) => void released.push(caller),
  };
}

/** Waits until a condition holds. */
export async function until(what: () => boolean, limitMs = HANG_MS): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!what()) {
    if (performance.now() > deadline) throw new Error(`It did not happen: ${what}`);
    await sleep(5);
  }
}
