// A client of one revision, written without an SDK: sends any message, answers questions, and records what it receives.
import { createInterface } from "node:readline";
import { outcomeOf, type Place, type Running } from "../e2e/command.js";

const NAMES = "io.modelcontextprotocol";
const CAPABILITIES = {
  ...{ roots: { listChanged: true }, sampling: {}, elicitation: { form: {}, url: {} } },
  extensions: { [`${NAMES}/tasks`]: {} },
};
const CLIENT_INFO = { name: "tester", version: "1.0.0" };

const ANSWERS: Readonly<Record<string, unknown>> = {
  "elicitation/create": { action: "accept", content: { name: "Ada" } },
  "sampling/createMessage": { role: "assistant", model: "none", content: { type: "text", text: "sampled" } },
  "roots/list": { roots: [{ uri: "file:///somewhere" }] },
  ping: {},
};

type Raw = Record<string, unknown>;

export interface Answer {
  readonly result?: Raw;
  readonly error?: { readonly code: number; readonly message: string };
}

/** `trunkline serve` over stdio, and its client. */
export class RevisionClient implements AsyncDisposable {
  readonly revision: string;
  /** Methods the server has sent on its own. */
  readonly told = new Set<string>();
  readonly #child: Running;
  readonly #ended: Promise<unknown>;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #onTold = () => {};
  #lastId = 0;

  constructor(place: Place, args: readonly string[], revision: string) {
    this.revision = revision;
    this.#child = place.start(["serve", ...args]);
    this.#ended = outcomeOf(this.#child);
    if (this.#child.stdout === null) throw new Error("no stdout");
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#take(JSON.parse(line)));
  }

  get isModern(): boolean {
    return this.revision === "2026-07-28";
  }

  /** Performs the handshake, if the revision has one. */
  async open(): Promise<this> {
    if (this.isModern) return this;
    await this.request("initialize", this.handshake);
    this.notify("notifications/initialized");
    return this;
  }

  readonly handshake = { protocolVersion: "", capabilities: CAPABILITIES, clientInfo: CLIENT_INFO };

  notify(method: string, params: Raw = {}): void {
    this.#send({ method, params });
  }

  /** Sends a request. If the response asks something, repeats the request with the answers. */
  async request(method: string, params: Raw = {}): Promise<Answer> {
    const answer = await this.begin(method, params);
    if (answer.result?.resultType !== "input_required") return answer;
    const { inputRequests, requestState } = answer.result as {
      inputRequests: Record<string, { method: string }>;
      requestState: unknown;
    };
    const responses = Object.entries(inputRequests).map(([key, { method: asked }]) => {
      this.told.add(asked);
      return [key, ANSWERS[asked]];
    });
    return await this.request(method, { ...params, requestState, inputResponses: Object.fromEntries(responses) });
  }

  /** Sends a request and returns the response as is. */
  begin(method: string, params: Raw = {}): Promise<Answer> {
    const id = ++this.#lastId;
    const own = method === "initialize" ? { ...params, protocolVersion: this.revision } : params;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#send({
        id,
        method,
        params: this.isModern ? { ...own, _meta: { ...this.#envelope, ...metaOf(own) } } : own,
      });
    });
  }

  /** Waits until the server has sent this message on its own. */
  async isTold(method: string): Promise<void> {
    while (!this.told.has(method)) {
      await new Promise<void>((resolve) => {
        this.#onTold = resolve;
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin?.end();
    await this.#ended;
  }

  get #envelope(): Raw {
    return {
      [`${NAMES}/protocolVersion`]: this.revision,
      [`${NAMES}/clientInfo`]: CLIENT_INFO,
      [`${NAMES}/clientCapabilities`]: CAPABILITIES,
      [`${NAMES}/logLevel`]: "debug",
    };
  }

  #send(message: Raw): void {
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #take(message: Raw & Answer): void {
    if (typeof message.method !== "string") {
      this.#waiting.get(Number(message.id))?.(message);
      return;
    }
    const { id, method } = message;
    this.told.add(method);
    this.#onTold();
    if (id === undefined) return;
    const result = ANSWERS[method];
    this.#send(result === undefined ? { id, error: { code: -32601, message: "Method not found" } } : { id, result });
  }
}

function metaOf(params: Raw): Raw {
  return typeof params._meta === "object" && params._meta !== null ? { ...params._meta } : {};
}
