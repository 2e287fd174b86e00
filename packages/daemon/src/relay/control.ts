// Asks the broker about itself, or to end.
import { type BrokerPlace, executionPlace } from "../wire/broker-place.js";
import { FRAME, PROTOCOL_VERSION } from "../wire/frames.js";
import type { ControlHello } from "../wire/hello.js";
import { endLeftGroups, recordedBrokers } from "../wire/process-groups.js";
import { connectBroker } from "./reach-broker.js";

/**
 * Sends a request to the running broker and returns its answer; undefined if there is no broker, or if the signal is
 * aborted. The answer to `stop` comes when its servers have ended.
 */
export async function requestControl(
  place: BrokerPlace,
  request: ControlHello["request"],
  { version, build, signal }: { readonly version: string; readonly build: string; readonly signal?: AbortSignal },
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const link = await connectBroker(place, {
    kind: "control",
    request,
    version,
    build,
    protocol: PROTOCOL_VERSION,
    pid: process.pid,
    place: executionPlace("self", { umask: false }),
  });
  if (link === undefined) return undefined;
  return await new Promise((resolve) => {
    link.socket.on("error", () => {});
    link.socket.once("close", () => resolve(undefined));
    signal?.addEventListener("abort", () => link.socket.destroy(), { once: true });
    link.onFrame = (kind, payload) => {
      if (kind !== FRAME.report) return;
      resolve(JSON.parse(payload.toString("utf8")) as Readonly<Record<string, unknown>>);
      link.socket.end();
    };
  });
}

/** Kills brokers that do not answer, and their servers. Returns the process ids; relays start another broker. */
export function killSilentBrokers(place: BrokerPlace): number[] {
  const pids = recordedBrokers(place.groups).flatMap(({ pid, isAlive }) => (isAlive ? [pid] : []));
  for (const pid of pids) process.kill(pid, "SIGKILL");
  // The next broker, or a relay, does it otherwise.
  endLeftGroups(place.groups);
  return pids;
}
