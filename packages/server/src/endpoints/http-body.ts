// What a request over HTTP brings along, and whether it may.
import type { IncomingMessage } from "node:http";
import { type Refusal, refusal } from "./http-answers.js";

/** Why the headers of a POST cannot be served; undefined where they can. */
export function checkPostHeaders({ headers }: IncomingMessage): Refusal | undefined {
  const type = headers["content-type"];
  if (type !== "application/json" && !/^application\/json\s*(;|$)/i.test(type ?? "")) {
    return refusal(415, "Unsupported media type: the body has to be application/json.");
  }
  const { accept } = headers;
  if (accept === undefined || (accepts(accept, "application/json") && accepts(accept, "text/event-stream"))) {
    return undefined;
  }
  return refusal(406, "Not acceptable: the client has to accept application/json and text/event-stream.");
}

/** Why a GET cannot be served; undefined where it can. */
export function checkGetHeaders({ headers }: IncomingMessage): Refusal | undefined {
  if (accepts(headers.accept ?? "*/*", "text/event-stream")) return undefined;
  return refusal(406, "Not acceptable: the client has to accept text/event-stream.");
}

/** The text of a body; undefined where it is larger than it may be. Rejects where the client goes meanwhile. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) {
        chunks.length = 0;
        resolve(undefined);
      } else chunks.push(chunk);
    });
    request.on("end", () => {
      const [first] = chunks;
      resolve(
        chunks.length === 1 && first !== undefined ? first.toString("utf8") : Buffer.concat(chunks).toString("utf8"),
      );
    });
    request.on("error", reject);
    request.on("close", () => {
      if (!request.complete) reject(new Error("The client went before its request was read."));
    });
  });
}

function accepts(header: string, type: string): boolean {
  if (header.includes(type) || header.includes("*/*")) return true;
  return header.includes(`${type.slice(0, type.indexOf("/"))}/*`);
}
