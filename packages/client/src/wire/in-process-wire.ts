// The wire to a server in this process: messages are passed as they are.
import type { InProcessPeer, InProcessServer } from "@trunkline/config";
import { isRecord, TrunklineError } from "@trunkline/core";
import type { OutgoingMessage, RpcId } from "@trunkline/protocol";
import type { Wire, WireListener, WireMessage } from "./message-wire.js";

export class InProcessWire implements Wire {
  /** Like a pipe. */
  readonly hasOwnStreams = false;
  readonly hasSession = false;
  readonly #server: Pick<InProcessServer, "name" | "start">;
  #listener: WireListener | undefined;
  #peer: InProcessPeer | undefined;
  #isEnded = false;
  #closing: Promise<void> | undefined;

  constructor(server: Pick<InProcessServer, "name" | "start">) {
    this.#server = server;
  }

  async start(listener: WireListener): Promise<void> {
    this.#listener = listener;
    const peer = await this.#server.start({
      send: (message) => queueMicrotask(() => this.#arrive(message)),
      close: () => void this.close().catch((error: unknown) => listener.onError(error)),
    });
    this.#peer = peer;
    // Closed meanwhile.
    if (this.#isEnded) await peer.close?.();
  }

  send(request: OutgoingMessage): void {
    this.#deliver(request).catch((error: unknown) => this.#listener?.onFailure(request.id as RpcId, error));
  }

  async post(message: OutgoingMessage): Promise<void> {
    await this.#deliver(message);
  }

  /**
   * Later, like on any other wire: neither side expects an answer while it is still sending. A server may well handle a
   * message in an async function.
   */
  async #deliver(message: OutgoingMessage): Promise<void> {
    await undefined;
    if (this.#isEnded || this.#peer === undefined) {
      throw new TrunklineError("SERVER_EXITED", `Server "${this.#server.name}" is not running.`);
    }
    await this.#peer.receive(message);
  }

  #arrive(message: unknown): void {
    if (this.#isEnded) return;
    if (isMessage(message)) this.#listener?.onMessage(message, undefined);
    else this.#listener?.onError(new Error("The server sent something other than a JSON-RPC message."));
  }

  drop(): void {}

  setRevision(): void {}

  listen(): void {}

  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#isEnded = true;
      try {
        await this.#peer?.close?.();
      } finally {
        this.#listener?.onClose();
      }
    })();
    return this.#closing;
  }
}

function isMessage(message: unknown): message is WireMessage {
  return isRecord(message) && message.jsonrpc === "2.0";
}
