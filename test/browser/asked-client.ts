// A client of `trunkline serve` over stdio, of either era, that does not answer questions until it is told to.
import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import type { ConsoleStage } from "./console-stage.js";

export interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly result?: any;
  // biome-ignore lint/suspicious/noExplicitAny: the same
  readonly error?: any;
}

const REVISION = "2026-07-28";
const CAPABILITIES = { elicitation: { form: {}, url: {} } };

export class AskedClient implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #era: "legacy" | "modern";
  readonly #name: string;
  readonly #waiting = new Map<number, (message: Message) => void>();
  /** Requests and notifications of the server. */
  readonly received: Message[] = [];
  #lastId = 0;

  private constructor(child: ChildProcess, era: "legacy" | "modern", name: string) {
    this.#child = child;
    this.#era = era;
    this.#name = name;
    child.stdin?.on("error", () => {});
    child.stderr?.resume();
    if (child.stdout === null) throw new Error("no output");
    createInterface({ input: child.stdout }).on("line", (line) => {
      const message = JSON.parse(line) as Message;
      if (message.method === undefined) this.#waiting.get(message.id ?? 0)?.(message);
      else this.received.push(message);
    });
  }

  static async start(stage: ConsoleStage, era: "legacy" | "modern", name: string): Promise<AskedClient> {
    const child = stage.place.startProcess(["serve", "--surface", "direct"]);
    const client = new AskedClient(child, era, name);
    if (era === "modern") return client;
    const clientInfo = { name, version: "1.0" };
    await client.request("initialize", { protocolVersion: "2025-11-25", capabilities: CAPABILITIES, clientInfo });
    client.#send({ method: "notifications/initialized" });
    return client;
  }

  request(method: string, params: Readonly<Record<string, unknown>> = {}): Promise<Message> {
    const id = ++this.#lastId;
    const answered = new Promise<Message>((resolve) => this.#waiting.set(id, resolve));
    const meta = {
      "io.modelcontextprotocol/protocolVersion": REVISION,
      "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
      "io.modelcontextprotocol/clientInfo": { name: this.#name, version: "1.0" },
    };
    this.#send({ id, method, params: this.#era === "modern" ? { ...params, _meta: meta } : params });
    return answered;
  }

  call(name: string, args: object = {}, more: object = {}): Promise<Message> {
    return this.request("tools/call", { name, arguments: args, ...more });
  }

  /** Answers a request of the server. */
  answer(id: number | undefined, result: object): void {
    this.#send({ id, result });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#child.once("close", resolve));
    this.#child.stdin?.end();
    await closed;
  }

  #send(message: object): void {
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }
}
