// The clients used to test the gateway: both SDK generations, both eras and both transports, behind one interface.
import {
  Client,
  type ClientOptions,
  LOG_LEVEL_META_KEY,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as V1Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as V1StdioTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as V1HttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { bin } from "./command.js";

export type Kind = "v1" | "v2 legacy" | "v2 modern";

type Raw = Record<string, unknown>;

/** What a client receives while it is connected. */
export interface Told {
  /** Messages of the questions, in order of arrival. */
  readonly questions: string[];
  readonly logs: unknown[];
  readonly updates: string[];
  /** As received: the SDKs drop progress that arrives together with the answer. */
  readonly progress: { readonly progress: number; readonly total?: number }[];
  listChanges: number;
}

export interface CallOptions {
  readonly onprogress?: (progress: { progress: number }) => void;
  readonly signal?: AbortSignal;
  readonly logLevel?: "debug" | "info" | "error";
}

export interface Peer extends AsyncDisposable {
  readonly kind: Kind;
  readonly told: Told;
  call(name: string, args?: Raw, options?: CallOptions): Promise<Raw>;
  listTools(): Promise<string[]>;
  listResources(): Promise<string[]>;
  readResource(uri: string): Promise<Raw[]>;
  getPrompt(name: string, args: Record<string, string>): Promise<Raw>;
  complete(prompt: string, name: string, value: string): Promise<string[]>;
  subscribe(uri: string): Promise<void>;
  setLogLevel(level: "debug" | "info" | "error"): Promise<void>;
  /** Tells the server that the roots changed. */
  rootsChanged(): Promise<void>;
}

/** Where the server is: a process to start, or a URL. */
export type Where =
  | { readonly args: readonly string[]; readonly cwd: string; readonly env: Record<string, string> }
  | { readonly url: string };

const info = { name: "gateway-test", version: "1" };
const capabilities = { elicitation: { form: {} }, sampling: {}, roots: { listChanged: true } };
const usualRoots = [{ uri: "file:///folder/of/the/client" }];

export interface PeerOptions {
  /** Read whenever the server asks. */
  readonly roots?: readonly { uri: string }[];
}

export async function connectPeer(kind: Kind, where: Where, options: PeerOptions = {}): Promise<Peer> {
  const told: Told = { questions: [], logs: [], updates: [], progress: [], listChanges: 0 };
  const roots = options.roots ?? usualRoots;
  return kind === "v1" ? await connectV1(where, told, roots) : await connectV2(kind, where, { told, roots });
}

function answerTo({ message }: { message: string }, { questions }: Told) {
  questions.push(message);
  return { action: "accept" as const, content: { name: "Ada", answer: message, run: true } };
}

const sampled = { role: "assistant" as const, model: "test", content: { type: "text" as const, text: "sampled" } };

function tellProgress(transport: Transport, { progress }: Told): void {
  const { onmessage } = transport;
  transport.onmessage = (message, extra) => {
    if ("method" in message && message.method === "notifications/progress")
      progress.push(message.params as unknown as Told["progress"][number]);
    onmessage?.(message, extra);
  };
}

/** Describes how to start the command. */
function processOf({ args, cwd, env }: Exclude<Where, { url: string }>) {
  return { command: process.execPath, args: [bin, ...args], cwd, env, stderr: "ignore" as const };
}

/** Methods that have the same name in both SDK generations. */
interface PlainClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  readResource(params: { uri: string }): Promise<{ contents: Raw[] }>;
  getPrompt(params: { name: string; arguments: Record<string, string> }): Promise<Raw>;
  complete(params: {
    ref: { type: "ref/prompt"; name: string };
    argument: { name: string; value: string };
  }): Promise<{ completion: { values: string[] } }>;
  sendRootsListChanged(): Promise<void>;
}

function plainRequests(client: PlainClient) {
  return {
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    listResources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    readResource: async (uri: string) => (await client.readResource({ uri })).contents,
    getPrompt: (name: string, args: Record<string, string>) => client.getPrompt({ name, arguments: args }),
    complete: async (prompt: string, name: string, value: string) =>
      (await client.complete({ ref: { type: "ref/prompt", name: prompt }, argument: { name, value } })).completion
        .values,
    rootsChanged: () => client.sendRootsListChanged(),
  };
}

async function connectV2(
  kind: "v2 legacy" | "v2 modern",
  where: Where,
  { told, roots }: { told: Told; roots: readonly { uri: string }[] },
): Promise<Peer> {
  const isModern = kind === "v2 modern";
  const options: ClientOptions = {
    capabilities,
    versionNegotiation: { mode: isModern ? { pin: "2026-07-28" } : "legacy" },
    listChanged: {
      tools: {
        autoRefresh: false,
        debounceMs: 0,
        onChanged: () => {
          told.listChanges++;
        },
      },
    },
  };
  const client = new Client(info, options);
  client.setRequestHandler("elicitation/create", async ({ params }) => answerTo(params, told));
  client.setRequestHandler("sampling/createMessage", async () => sampled);
  client.setRequestHandler("roots/list", async () => ({ roots: [...roots] }));
  client.setNotificationHandler("notifications/message", ({ params }) => void told.logs.push(params.data));
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => void told.updates.push(params.uri));
  const transport: Transport =
    "url" in where ? new StreamableHTTPClientTransport(new URL(where.url)) : new StdioClientTransport(processOf(where));
  await client.connect(transport);
  tellProgress(transport, told);
  const closing: (() => Promise<void>)[] = [() => client.close()];
  return {
    kind,
    told,
    call: async (name, args = {}, { onprogress, signal, logLevel } = {}) =>
      (await client.callTool(
        {
          name,
          arguments: args,
          ...(isModern && logLevel !== undefined ? { _meta: { [LOG_LEVEL_META_KEY]: logLevel } } : {}),
        },
        { ...(onprogress === undefined ? {} : { onprogress }), ...(signal === undefined ? {} : { signal }) },
      )) as Raw,
    ...plainRequests(client),
    subscribe: async (uri) => {
      if (!isModern) return void (await client.subscribeResource({ uri }));
      const stream = await client.listen({ resourceSubscriptions: [uri] });
      closing.unshift(() => stream.close());
    },
    setLogLevel: async (level) => {
      if (!isModern) await client.setLoggingLevel(level);
    },
    [Symbol.asyncDispose]: async () => {
      for (const close of closing) await close();
    },
  };
}

async function connectV1(where: Where, told: Told, roots: readonly { uri: string }[]): Promise<Peer> {
  const client = new V1Client(info, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => answerTo(params, told));
  client.setRequestHandler(CreateMessageRequestSchema, async () => sampled);
  client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [...roots] }));
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void told.logs.push(params.data));
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void told.updates.push(params.uri));
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    told.listChanges++;
  });
  const transport = "url" in where ? new V1HttpTransport(new URL(where.url)) : new V1StdioTransport(processOf(where));
  // The SDK's types are not exact about optional properties.
  await client.connect(transport as Parameters<V1Client["connect"]>[0]);
  tellProgress(transport as Transport, told);
  return {
    kind: "v1",
    told,
    call: async (name, args = {}, { onprogress, signal } = {}) =>
      (await client.callTool({ name, arguments: args }, CallToolResultSchema, {
        ...(onprogress === undefined ? {} : { onprogress }),
        ...(signal === undefined ? {} : { signal }),
      })) as Raw,
    ...plainRequests(client),
    subscribe: async (uri) => void (await client.subscribeResource({ uri })),
    setLogLevel: async (level) => void (await client.setLoggingLevel(level)),
    [Symbol.asyncDispose]: () => client.close(),
  };
}
