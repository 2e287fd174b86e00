// Gateways that share the memory of one process, for tests of what passes between them.
import type { BatchClaim, Gateway, GatewayAnswer, GatewayRequest } from "@trunkline/core";

type Handler = (request: GatewayRequest) => Promise<Uint8Array | undefined>;

export class MemoryTeam {
  readonly members = new Map<string, Handler | undefined>();
  readonly gone = new Set<string>();
  readonly tasks = new Map<string, { principal: string; detail: Uint8Array }>();
  /** Every body that was sent, in order. */
  readonly sent: Uint8Array[] = [];

  join(name: string): Gateway {
    this.members.set(name, undefined);
    this.gone.delete(name);
    const leave = async () => void this.gone.add(name);
    return {
      name,
      serve: (handler) => {
        this.members.set(name, handler);
        return () => void this.members.set(name, undefined);
      },
      ask: (gateway, body, options) => this.#ask(gateway, body, options),
      keepTask: async ({ id, principal, detail }) => void this.tasks.set(id, { principal, detail }),
      findTask: async (id, principal) => {
        const task = this.tasks.get(id);
        return task?.principal === principal ? task.detail : undefined;
      },
      forgetTasks: async (principal) => {
        for (const [id, task] of this.tasks) if (task.principal === principal) this.tasks.delete(id);
      },
      claimBatch: async (): Promise<BatchClaim> => ({ kind: "claimed" }),
      endBatch: async () => {},
      waitForBatch: async () => {},
      leave,
      [Symbol.asyncDispose]: leave,
    };
  }

  async #ask(
    gateway: string,
    body: Uint8Array,
    { signal, onPart }: { signal: AbortSignal; onPart: (part: Uint8Array) => void },
  ): Promise<GatewayAnswer> {
    if (!this.members.has(gateway)) return { kind: "unknown" };
    const handler = this.members.get(gateway);
    if (this.gone.has(gateway) || handler === undefined) return { kind: "gone" };
    this.sent.push(body);
    const answer = await handler({ body, signal, send: onPart });
    if (answer === undefined) return { kind: "gone" };
    this.sent.push(answer);
    return { kind: "answer", body: answer };
  }
}
