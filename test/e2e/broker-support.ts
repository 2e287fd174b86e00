// A broker in this process, and MCP clients that reach it through relays in this process.
import { EventEmitter } from "node:events";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import {
  brokerPlace,
  ClientRelay,
  connectBroker,
  executionPlace,
  PROTOCOL_VERSION,
} from "../../packages/daemon/src/relay/index.js";
import { outcomeOf, type Place, type Running, seen } from "./command.js";
import { ServedStdio } from "./serve-stdio-client.js";

/** The broker of a place, until it is stopped. Dispose it before the place, which kills brokers that are left. */
export class InProcessBroker implements AsyncDisposable {
  readonly #running: Running;
  readonly #outcome: ReturnType<typeof outcomeOf>;
  readonly #place: Place;

  private constructor(place: Place) {
    this.#place = place;
    this.#running = place.start(["broker", "run"]);
    this.#outcome = outcomeOf(this.#running);
  }

  static async start(place: Place): Promise<InProcessBroker> {
    const broker = new InProcessBroker(place);
    await seen(broker.#running.stderr, / listening /);
    return broker;
  }

  /** Connects a program that speaks MCP, from a folder. */
  async client(name: string, cwd = this.#place.cwd, args: readonly string[] = []): Promise<ServedStdio> {
    const child = new RelayedClient(this.#place, cwd, args);
    return await ServedStdio.meet(child, { clientInfo: { name, version: "1.0" } });
  }

  /** What it has written to its log. */
  async ended(): Promise<string> {
    return (await this.#outcome).stderr;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#running.kill("SIGTERM");
    await this.#outcome;
  }
}

/** `trunkline serve` as a relay that does not start another broker. */
class RelayedClient extends EventEmitter implements Running {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  readonly #ending = new AbortController();

  constructor({ home, env }: Place, cwd: string, args: readonly string[]) {
    super();
    const attach = async (generation: number) => {
      const link = await connectBroker(brokerPlace({ home: join(home, ".trunkline") }), {
        ...{ kind: "client", protocol: PROTOCOL_VERSION, version: "0.0.0", build: "", pid: process.pid },
        ...{ place: executionPlace(), args: ["serve", ...args], cwd, userHome: home, generation },
        env: { PATH: process.env.PATH ?? "", HOME: home, ...env },
      });
      if (link === undefined) throw new Error("no broker");
      return link;
    };
    const { stdin: input, stdout: output, stderr: errors } = this;
    const relay = new ClientRelay({ input, output, errors, attach });
    void attach(0)
      .then((link) => relay.run(link, this.#ending.signal))
      .then(
        () => this.#end(0),
        () => this.#end(1),
      );
  }

  kill(): boolean {
    this.#ending.abort("SIGTERM");
    return true;
  }

  #end(code: number): void {
    this.stdout.end();
    this.stderr.end();
    setImmediate(() => this.emit("close", code));
  }
}
