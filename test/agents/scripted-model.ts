// A model on loopback that plays a script. It speaks the dialect of each agent, and keeps every request.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { anthropic } from "./dialects/anthropic.js";
import { chat } from "./dialects/chat.js";
import { type Body, type Dialect, json, type Move, type Reply, type Turn, turnOf } from "./dialects/dialect.js";
import { gemini } from "./dialects/gemini.js";
import { responses } from "./dialects/responses.js";

const DIALECTS: readonly Dialect[] = [anthropic, responses, chat, gemini];

/** Decides what the model does next. An agent may repeat a request; the script must give the same answer to it. */
export type Script = (turn: Turn) => Move | Promise<Move>;

export interface ModelRequest {
  readonly path: string;
  readonly body: Body;
  readonly turn: Turn;
}

/** Answers requests without tools: titles, summaries, which model to use. Some want JSON with fields of their own. */
const ASIDE = JSON.stringify({
  title: "ok",
  reasoning: "ok",
  model_choice: "pro",
  complexity_score: 90,
  complexity_reasoning: "ok",
  next_speaker: "user",
});

/** What a script was asked, and what went wrong. */
export interface Played {
  /** The requests that offered tools, oldest first. */
  readonly requests: readonly ModelRequest[];
  /** Errors of the script, and requests that no dialect serves. */
  readonly problems: readonly string[];
}

export class ScriptedModel implements AsyncDisposable {
  #requests: ModelRequest[] = [];
  #problems: string[] = [];
  #script: Script = () => "done";
  readonly #server: Server = createServer((request, response) => void this.#serve(request, response));

  static async start(): Promise<ScriptedModel> {
    const model = new ScriptedModel();
    await new Promise<void>((resolve) => model.#server.listen(0, "127.0.0.1", resolve));
    return model;
  }

  /** Plays another script from now on. What it returns grows with every request. */
  play(script: Script): Played {
    this.#script = script;
    this.#requests = [];
    this.#problems = [];
    return { requests: this.#requests, problems: this.#problems };
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    try {
      const content = await text(request);
      const { type, text: body } = await this.#reply(path, content === "" ? {} : JSON.parse(content));
      response.writeHead(200, { "content-type": type }).end(body);
    } catch (error) {
      this.#problems.push(`${request.method} ${path}: ${error instanceof Error ? error.message : error}`);
      response.writeHead(404, { "content-type": "application/json" }).end('{"error":{"message":"not found"}}');
    }
  }

  async #reply(path: string, body: Body): Promise<Reply> {
    if (path.endsWith("/models")) return json({ object: "list", data: [], models: [] });
    if (/count_?tokens$/i.test(path)) return json({ input_tokens: 100, totalTokens: 100 });
    const dialect = DIALECTS.find((each) => each.serves(path));
    if (dialect === undefined) throw new Error("no dialect serves this");
    const turn = turnOf(dialect.read(body));
    if (turn.tools.length === 0) return dialect.reply(ASIDE, { path, body });
    this.#requests.push({ path, body, turn });
    return dialect.reply(await this.#script(turn), { path, body });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
