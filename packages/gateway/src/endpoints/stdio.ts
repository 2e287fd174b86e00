// stdio: one client, for as long as its streams are open. Only protocol messages go to stdout.
import type { Readable, Writable } from "node:stream";
import { atMost, LineReader, type Logger, systemCodeOf } from "@trunkline/core";
import { MODERN_REVISION } from "@trunkline/protocol";
import type { McpService } from "../interfaces/mcp-service.js";
import { Protocol } from "../protocol/endpoint-protocol.js";
import { StdioConversation } from "./stdio-conversation.js";
import { LineWriter } from "./stdio-lines.js";

export interface StdioEndpointOptions {
  readonly service: McpService;
  readonly logger: Logger;
  /** Aborting it closes the connection, after a grace period for running calls. */
  readonly signal?: AbortSignal;
  /**
   * Aborting it hands the client over to another process that serves it: running calls are finished, for up to a minute,
   * and notification streams are left open for the other process.
   */
  readonly handover?: AbortSignal;
  /** How long running calls may continue when the client closes its end or the signal is aborted. Default 5 s. */
  readonly graceMs?: number;
  /** Default: stdin of this process. */
  readonly input?: Readable;
  /** Default: stdout of this process. */
  readonly output?: Writable;
}

const DEFAULT_GRACE_MS = 5_000;
const HANDOVER_MS = 60_000;
/** The longest accepted message: as in the SDK. */
const MAX_LINE_BYTES = 10 * 1024 * 1024;
const WRITER_LIMITS = { droppableBytes: 4 * 1024 * 1024, maxBytes: 256 * 1024 * 1024 };

/**
 * Serves both eras on this process's stdin and stdout. Resolves when the client has disconnected or the signal is
 * aborted.
 */
export async function serveOnStdio(options: StdioEndpointOptions): Promise<void> {
  const {
    service,
    logger,
    signal,
    input = process.stdin,
    output = process.stdout,
    graceMs = DEFAULT_GRACE_MS,
  } = options;
  const protocol = new Protocol({ service, logger, endpoint: "stdio" });

  let isGone = false;
  let stop: () => void = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const writer = new LineWriter(output, {
    limits: WRITER_LIMITS,
    onGone: (error) => {
      isGone = true;
      if (systemCodeOf(error) !== "EPIPE") logger.warn("cannot write to the client", { error });
      stop();
    },
  });
  const conversation = new StdioConversation(protocol, writer);
  const reader = new LineReader(
    {
      onLine: (bytes) => {
        const line = bytes.toString("utf8").trim();
        if (line !== "") conversation.line(line);
      },
      onTooLong: () => conversation.tooLong(MAX_LINE_BYTES),
    },
    { maxBytes: MAX_LINE_BYTES },
  );
  const onData = (chunk: Buffer | string) => {
    reader.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
    // Accept no new work for a client that does not read its answers.
    if (!writer.isBehind || input.isPaused()) return;
    input.pause();
    writer.onCaughtUp(() => input.resume());
  };
  const onEnd = () => {
    reader.end();
    stop();
  };
  const onError = (error: Error) => {
    logger.warn("cannot read from the client", { error });
    stop();
  };
  input.on("data", onData).on("end", onEnd).on("close", stop).on("error", onError);
  const { handover } = options;
  // Answers and cancellations still arrive while running calls finish.
  const onHandover = () => void atMost(HANDOVER_MS, conversation.drained()).then(stop);
  if (signal?.aborted || input.readableEnded || input.destroyed) stop();
  else {
    signal?.addEventListener("abort", stop, { once: true });
    if (handover?.aborted) onHandover();
    else handover?.addEventListener("abort", onHandover, { once: true });
  }

  await stopped;
  signal?.removeEventListener("abort", stop);
  handover?.removeEventListener("abort", onHandover);
  input.off("data", onData).off("end", onEnd).off("close", stop);
  input.pause();
  if (!isGone && handover?.aborted !== true) {
    if (input.readableEnded) conversation.stopAsking();
    await conversation.finishStreams();
    await atMost(graceMs, conversation.drained());
  }
  await conversation.close();
  if (conversation.modernClient !== undefined) {
    const { id, principal, endpoint, lasting } = conversation.modernClient;
    const gone = {
      id,
      principal,
      endpoint,
      lasting,
      name: "unknown",
      era: "modern",
      revision: MODERN_REVISION,
    } as const;
    await service.release({ ...gone, capabilities: {} });
  }
  await protocol.close();
  await atMost(1_000, writer.flushed());
}
