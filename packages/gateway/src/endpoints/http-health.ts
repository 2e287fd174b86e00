// Pages for operators: `/healthz` (the process answers), `/readyz` (it should get requests) and `/metrics`.
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Refusal, refusal, refuse } from "./http-replies.js";

/** What the pages show. */
export interface HealthSource {
  /**
   * Returns why this gateway should get no requests; empty if it should. Anyone who can connect sees the answer, so it
   * names no addresses, paths or servers.
   */
  problems(): Promise<readonly string[]>;
  /** Returns figures in the text format of Prometheus. */
  metrics(load: EndpointLoad): Promise<string>;
}

/** What the endpoint is doing. */
export interface EndpointLoad {
  /** Requests that are being answered, without this one. */
  readonly requests: number;
  /** Sessions of legacy clients. */
  readonly sessions: number;
  readonly isDraining: boolean;
}

interface HealthPagesOptions {
  readonly source: HealthSource;
  load(): EndpointLoad;
  /** Returns why a request is rejected, unless it has a valid token. */
  checkToken(request: IncomingMessage): Refusal | undefined;
}

/** Probes come often, and from everyone: the state is looked up at most once in this time. */
const FRESH_MS = 1_000;
const DRAINING = "The server is stopping.";
const PAGES = { "/healthz": "health", "/readyz": "readiness", "/metrics": "metrics" } as const;
const TEXT = "text/plain; charset=utf-8";
const PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

type Page = (typeof PAGES)[keyof typeof PAGES];

export class HealthPages {
  readonly #options: HealthPagesOptions;
  #known: { readonly problems: Promise<readonly string[]>; readonly untilMs: number } | undefined;

  constructor(options: HealthPagesOptions) {
    this.#options = options;
  }

  /** Returns which page a request asks for; undefined if it asks for something else. */
  pageOf({ url = "/" }: IncomingMessage): Page | undefined {
    const [path = ""] = url.split("?", 1);
    return Object.hasOwn(PAGES, path) ? PAGES[path as keyof typeof PAGES] : undefined;
  }

  /** Answers a request for a page. */
  async answer(page: Page, request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume();
    const { source, load, checkToken } = this.#options;
    if (request.method !== "GET" && request.method !== "HEAD")
      return refuse(response, refusal(405, "Method not allowed.", { allow: "GET, HEAD" }));
    if (page === "health") return send(response, { status: 200, type: TEXT, body: "ok\n" });
    if (page === "readiness") {
      const problems = load().isDraining ? [DRAINING] : await this.#problems();
      const body = `${problems.length === 0 ? "ready" : problems.join("\n")}\n`;
      return send(response, { status: problems.length === 0 ? 200 : 503, type: TEXT, body });
    }
    const refused = checkToken(request);
    if (refused !== undefined) return refuse(response, refused);
    send(response, { status: 200, type: PROMETHEUS, body: await source.metrics(load()) });
  }

  #problems(): Promise<readonly string[]> {
    const nowMs = performance.now();
    if (this.#known === undefined || this.#known.untilMs < nowMs)
      this.#known = { problems: this.#options.source.problems(), untilMs: nowMs + FRESH_MS };
    return this.#known.problems;
  }
}

function send(response: ServerResponse, page: { status: number; type: string; body: string }): void {
  const { status, type, body } = page;
  response.writeHead(status, {
    "content-type": type,
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
  });
  response.end(body);
}
