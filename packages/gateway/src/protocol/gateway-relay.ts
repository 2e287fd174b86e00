// Requests about calls and tasks of other gateways on the same store: they are passed on to the gateway that runs the
// call, which checks the principal and answers; the client's own gateway passes the answer back.
import { type Gateway, type GatewayRequest, isRecord, parseJson, TrunklineError } from "@trunkline/core";
import {
  encodeMessage,
  isRpcId,
  JsonBytes,
  type OutgoingMessage,
  type RpcParams,
  type RpcRequest,
} from "@trunkline/protocol";
import { type ClientFacts, RequestContext } from "./request-context.js";

/** The response to a request: the message, and its status for HTTP. */
export interface ModernAnswer {
  readonly message: OutgoingMessage;
  readonly status: number;
}

type RelayedAnswer =
  | { readonly kind: "answer"; readonly answer: ModernAnswer }
  | { readonly kind: "unknown" }
  | { readonly kind: "gone" };

/** Ids that clients send back: the gateway's name, and a part that cannot be guessed. */
const OWNED_ID = /^([A-Za-z0-9-]{1,32})\.[A-Za-z0-9_-]{1,64}$/;

/** Returns the id of something that belongs to a gateway; without a gateway, the id itself. */
export function ownedId(gateway: string | undefined, id: string): string {
  return gateway === undefined ? id : `${gateway}.${id}`;
}

export class GatewayRelay {
  readonly #gateway: Gateway;

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
  }

  /** Returns the other gateway that an id belongs to; undefined if it is ours, or not an id that a gateway makes. */
  ownerOf(id: unknown): string | undefined {
    // Checked first: a client can send any text, of any length.
    if (typeof id !== "string" || id.length > 100) return undefined;
    const owner = OWNED_ID.exec(id)?.[1];
    return owner === this.#gateway.name ? undefined : owner;
  }

  /** Passes a request on. Its messages go to the context's outlet, and its cancellation goes along. */
  async relay(owner: string, request: RpcRequest, context: RequestContext): Promise<RelayedAnswer> {
    const controller = new AbortController();
    context.onCancel((reason) => controller.abort(reason));
    try {
      const answer = await this.#gateway.ask(owner, encodeRequest(request, context.client), {
        signal: controller.signal,
        onPart: (part) => {
          const message = parseJson(textOf(part));
          if (isRecord(message)) context.outlet.send(message);
        },
      });
      return answer.kind === "answer" ? { kind: "answer", answer: decodeAnswer(answer.body) } : answer;
    } finally {
      context.onCancel(undefined);
    }
  }

  /** Answers the requests that other gateways pass on, until the returned function is called. */
  serve(handle: (request: RpcRequest, context: RequestContext) => Promise<ModernAnswer | undefined>): () => void {
    return this.#gateway.serve(async ({ body, signal, send }: GatewayRequest) => {
      const { request, client } = decodeRequest(body);
      const context = new RequestContext(client, { send: (message) => send(Buffer.from(encodeMessage(message))) });
      const onAbort = () => context.cancel(abortReason(signal));
      if (signal.aborted) onAbort();
      else signal.addEventListener("abort", onAbort, { once: true });
      try {
        const answer = await handle(request, context);
        return answer === undefined ? undefined : encodeAnswer(answer);
      } finally {
        signal.removeEventListener("abort", onAbort);
      }
    });
  }
}

function abortReason({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new TrunklineError("ABORTED", "The client has disconnected.");
}

function encodeRequest({ id, method, params }: RpcRequest, client: ClientFacts): Uint8Array {
  const { id: clientId, principal, endpoint, lasting } = client;
  return Buffer.from(JSON.stringify({ id, method, params, client: { id: clientId, principal, endpoint, lasting } }));
}

/** A row of the database is trusted as far as the database is, but a gateway of another version may have written it. */
function decodeRequest(body: Uint8Array): { request: RpcRequest; client: ClientFacts } {
  const sent = parseJson(textOf(body));
  const client = isRecord(sent) ? sent.client : undefined;
  if (isRecord(sent) && isRpcId(sent.id) && typeof sent.method === "string" && isRecord(sent.params)) {
    const request: RpcRequest = { kind: "request", id: sent.id, method: sent.method, params: sent.params };
    if (isRecord(client) && typeof client.id === "string" && typeof client.principal === "string") {
      const { id, principal } = client;
      return { request, client: { id, principal, endpoint: "http", lasting: false } };
    }
  }
  throw new TrunklineError("PROTOCOL", "Another gateway sent a request that cannot be read.");
}

/** Large fields of a result stay as they are: the JSON of the rest is followed by their bytes. */
function encodeAnswer({ message, status }: ModernAnswer): Uint8Array {
  const { result } = message;
  const large: [string, JsonBytes][] = [];
  const small: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(isRecord(result) ? result : {})) {
    if (field instanceof JsonBytes) large.push([name, field]);
    else small[name] = field;
  }
  const head = Buffer.from(
    JSON.stringify({
      status,
      message: isRecord(result) ? { ...message, result: small } : message,
      large: large.map(([name, { bytes }]) => [name, bytes.length]),
    }),
  );
  const size = Buffer.alloc(4);
  size.writeUInt32BE(head.length);
  return Buffer.concat([size, head, ...large.map(([, { bytes }]) => bytes)]);
}

function decodeAnswer(body: Uint8Array): ModernAnswer {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const end = bytes.length < 4 ? 0 : 4 + bytes.readUInt32BE(0);
  const head = end === 0 ? undefined : parseJson(bytes.toString("utf8", 4, end));
  if (!isRecord(head) || !isRecord(head.message) || typeof head.status !== "number") {
    throw new TrunklineError("PROTOCOL", "Another gateway sent an answer that cannot be read.");
  }
  const { message, status } = head;
  const large = Array.isArray(head.large) ? head.large : [];
  if (large.length === 0) return { message, status };
  const result: Record<string, unknown> = { ...(isRecord(message.result) ? message.result : {}) };
  let at = end;
  for (const [name, length] of large as readonly (readonly [string, number])[]) {
    result[name] = new JsonBytes(bytes.subarray(at, at + length));
    at += length;
  }
  return { message: { ...message, result }, status };
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/** Builds the details of a task from what was kept. */
export function decodeTask(detail: Uint8Array): RpcParams | undefined {
  const task = parseJson(textOf(detail));
  return isRecord(task) ? task : undefined;
}
