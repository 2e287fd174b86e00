// A broker with a scripted host on a real socket, and clients of it.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Duplex, PassThrough, Writable } from "node:stream";
import { parseJson, silentLogger } from "@trunkline/core";
import {
  type BrokerHost,
  type BrokerPlace,
  BrokerServer,
  brokerPlace,
  type ClientHello,
  type ClientLink,
} from "../src/index.js";
import { ClientRelay, connectBroker, executionPlace, type Hello, PROTOCOL_VERSION } from "../src/relay/index.js";

export function temporaryPlace(): BrokerPlace {
  return brokerPlace({ home: mkdtempSync(join(tmpdir(), "tb-")) });
}

export type Message = {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: unknown;
  readonly error?: { readonly message: string; readonly data?: unknown };
};

/** One client as the host sees it. */
export interface Served {
  readonly hello: ClientHello;
  readonly link: ClientLink;
  readonly received: Message[];
  send(message: object): void;
  /** Waits for a message with this method, received after those asked for before. */
  next(method: string): Promise<Message>;
  leave(): void;
}

interface Scripted {
  /** Answers a request; undefined leaves it unanswered. */
  onMessage?(message: Message, served: Served): void;
  isRepeatable?(message: string): Promise<boolean>;
  onLost?(message: string, program: string | undefined): void;
  admit?(hello: ClientHello): unknown;
  /** Does not let clients go when they are handed over or leave, as if a call were running. */
  readonly keepsClients?: boolean;
}

/** Starts a broker whose clients are served by the script. */
export async function startBroker(
  place: BrokerPlace,
  script: Scripted = {},
  version = "1.0.0",
  { drainMs = 60_000 } = {},
) {
  const clients: Served[] = [];
  const waiting: ((served: Served) => void)[] = [];
  let done = () => {};
  const finished = new Promise<void>((resolve) => {
    done = resolve;
  });
  const host: BrokerHost = {
    admit: async (hello) => {
      await script.admit?.(hello);
      return {
        isRepeatable: async (message) => (await script.isRepeatable?.(message)) ?? true,
        onLost: (message, program) => script.onLost?.(message, program),
        serve: (link) =>
          new Promise<void>((resolve) => {
            const received: Message[] = [];
            const asked: { method: string; resolve: (message: Message) => void }[] = [];
            const unread: Message[] = [];
            const served: Served = {
              hello,
              link,
              received,
              send: (message) => void link.output.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`),
              next: (method) => {
                const at = unread.findIndex((message) => message.method === method);
                if (at !== -1) return Promise.resolve(unread.splice(at, 1)[0] as Message);
                return new Promise((resolveNext) => asked.push({ method, resolve: resolveNext }));
              },
              leave: () => resolve(),
            };
            createInterface({ input: link.input }).on("line", (line) => {
              const message = parseJson(line) as Message | null | undefined;
              if (typeof message !== "object" || message === null) return;
              received.push(message);
              const at = asked.findIndex(({ method }) => method === message.method);
              if (at === -1) unread.push(message);
              else asked.splice(at, 1)[0]?.resolve(message);
              script.onMessage?.(message, served);
            });
            if (!script.keepsClients) link.input.once("end", () => resolve());
            if (!script.keepsClients) link.handover.addEventListener("abort", () => resolve());
            clients.push(served);
            waiting.shift()?.(served);
          }),
      };
    },
    run: async () => 0,
    status: async () => ({ clients: server.clients.length }),
    close: async () => {},
  };
  const server = new BrokerServer({
    place,
    version,
    build: "code@1",
    host,
    logger: silentLogger,
    idleMs: 600_000,
    drainMs,
    onDone: () => done(),
  });
  const connections = new Set<Duplex>();
  const accept = server.accept.bind(server);
  server.accept = (connection) => {
    connections.add(connection);
    accept(connection);
  };
  if (!(await server.listen())) throw new Error("another broker listens");
  return {
    server,
    /** Ends it without a word, as if its process had been killed. */
    kill: async () => {
      for (const connection of connections) connection.destroy();
      await server.stop("killed");
    },
    clients,
    finished,
    /** The next client that is served. */
    client: () => new Promise<Served>((resolve) => waiting.push(resolve)),
  };
}

export function clientHello(changes: Partial<ClientHello> = {}): ClientHello {
  return {
    kind: "client",
    protocol: PROTOCOL_VERSION,
    version: "1.0.0",
    build: "code@1",
    pid: process.pid,
    place: executionPlace(),
    args: ["serve"],
    cwd: "/",
    userHome: "/",
    env: {},
    generation: 0,
    ...changes,
  };
}

/** A client that speaks MCP through a relay. */
export async function startClient(place: BrokerPlace, onLost?: () => Promise<void>) {
  const input = new PassThrough();
  const output = new PassThrough();
  const errors = new PassThrough();
  const ending = new AbortController();
  const received: Message[] = [];
  const waiting: { isWanted: (message: Message) => boolean; resolve: (message: Message) => void }[] = [];
  createInterface({ input: output }).on("line", (line) => {
    const message = JSON.parse(line) as Message;
    received.push(message);
    const at = waiting.findIndex(({ isWanted }) => isWanted(message));
    if (at !== -1) waiting.splice(at, 1)[0]?.resolve(message);
  });
  let lost = Promise.resolve();
  const attach = async (generation: number) => {
    if (generation > 0) await onLost?.();
    for (;;) {
      const link = await connectBroker(place, clientHello({ generation }) as Hello);
      if (link !== undefined) {
        lost = new Promise((resolve) => link.socket.once("close", () => setImmediate(resolve)));
        return link;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  // Like a pipe, it takes a chunk only after a while.
  const pipe = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      output.write(chunk);
      setImmediate(done);
    },
  });
  const relay = new ClientRelay({ input, output: pipe, errors, attach });
  const finished = relay.run(await attach(0), ending.signal);
  return {
    input,
    /** Where the relay writes. */
    pipe,
    received,
    finished,
    /** Resolves when the relay knows that its last broker has ended. */
    lost: () => lost,
    stop: () => ending.abort("SIGTERM"),
    send: (message: object) => void input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`),
    until: (isWanted: (message: Message) => boolean) => {
      const known = received.find(isWanted);
      if (known !== undefined) return Promise.resolve(known);
      return new Promise<Message>((resolve) => waiting.push({ isWanted, resolve }));
    },
  };
}
