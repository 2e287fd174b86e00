// A small client of `trunkline serve` that gives tests access to the process, its signals and its stderr.
import { outcomeOf, type Place, type Running, type RunOptions, seen } from "./command.js";

export interface ToolAnswer {
  readonly isError: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly value: any;
}

/** What the client declares, and how it answers the server's requests. */
export interface ClientBehaviour {
  readonly capabilities?: Record<string, unknown>;
  /** Default `tester`. */
  readonly clientInfo?: { readonly name: string; readonly version: string };
  readonly answer?: (method: string, params: Record<string, unknown>) => Record<string, unknown>;
}

/** A server started for one test. */
export class ServedStdio implements AsyncDisposable {
  readonly child: Running;
  readonly #outcome: ReturnType<typeof outcomeOf>;
  readonly #waiting = new Map<number, (message: Record<string, unknown>) => void>();
  #stderr = "";
  #rest = "";
  #lastId = 0;
  #isDone = false;
  #instructions = "";
  readonly #client: ClientBehaviour;

  private constructor(child: Running, client: ClientBehaviour) {
    this.child = child;
    this.#client = client;
    child.stdout?.on("data", (chunk: Buffer | string) => this.#onData(String(chunk)));
    child.stderr?.on("data", (chunk: Buffer | string) => {
      this.#stderr += String(chunk);
    });
    this.#outcome = outcomeOf(child);
  }

  /** Starts `trunkline serve` and performs the handshake. */
  static async start(
    place: Place,
    args: readonly string[] = [],
    { client, ...options }: RunOptions & { client?: ClientBehaviour } = {},
  ): Promise<ServedStdio> {
    return await ServedStdio.meet(place.start(["serve", ...args], options), client);
  }

  /** Does the same with a separate process. */
  static async startProcess(place: Place, args: readonly string[] = []): Promise<ServedStdio> {
    return await ServedStdio.meet(place.startProcess(["serve", ...args]));
  }

  /** Performs the handshake with a server that was started in another way. */
  static async meet(child: Running, client: ClientBehaviour = {}): Promise<ServedStdio> {
    const served = new ServedStdio(child, client);
    const { capabilities = {}, clientInfo = { name: "tester", version: "1.0" } } = client;
    const params = { protocolVersion: "2025-11-25", capabilities, clientInfo };
    served.#instructions = (await served.request("initialize", params)).instructions ?? "";
    served.send({ method: "notifications/initialized" });
    return served;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** The instructions of the handshake. */
  get instructions(): string {
    return this.#instructions;
  }

  send(message: Record<string, unknown>): void {
    this.child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  async request(method: string, params: Record<string, unknown> = {}): Promise<any> {
    const id = ++this.#lastId;
    const answered = new Promise<Record<string, unknown>>((resolve) => this.#waiting.set(id, resolve));
    this.send({ id, method, params });
    const answer = await answered;
    if (answer.error !== undefined) throw new Error(JSON.stringify(answer.error));
    return answer.result;
  }

  /** Calls a tool and parses the JSON it returns. */
  async call(name: string, args: Record<string, unknown>): Promise<ToolAnswer> {
    const { isError = false, content } = await this.request("tools/call", { name, arguments: args });
    return { isError, value: JSON.parse(content[0].text) };
  }

  /** Runs one query step. */
  async query(op: string, params: Record<string, unknown> = {}): Promise<ToolAnswer> {
    return await this.call("query", { steps: [{ op, params }] });
  }

  async execute(op: string, params: Record<string, unknown> = {}): Promise<ToolAnswer> {
    return await this.call("execute", { operations: [{ op, params }] });
  }

  /** Waits for a match on stderr. */
  async says(pattern: RegExp): Promise<void> {
    if (!pattern.test(this.#stderr)) await seen(this.child.stderr, pattern);
  }

  /** Closes the input or sends the signal, and waits for the process to end. */
  async end(signal?: "SIGINT" | "SIGTERM"): Promise<{ code: number | null; stderr: string }> {
    this.#isDone = true;
    if (signal === undefined) this.child.stdin?.end();
    else this.child.kill(signal);
    const { code } = await this.#outcome;
    return { code, stderr: this.#stderr };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isDone) await this.end();
  }

  #onData(text: string): void {
    this.#rest += text;
    const lines = this.#rest.split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const message = JSON.parse(line);
      if (message.method === undefined) this.#waiting.get(message.id)?.(message);
      else if (message.id !== undefined && this.#client.answer !== undefined)
        this.send({ id: message.id, result: this.#client.answer(message.method, message.params ?? {}) });
    }
  }
}
