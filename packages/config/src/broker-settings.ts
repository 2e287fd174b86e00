// How long the broker stays without clients. Only the user decides that: a project must not keep processes running.
import { nearestNames } from "@trunkline/core";
import { type ConfigNode, kindOf, memberOf } from "./tree.js";

interface BrokerSettings {
  /** How long the broker stays after its last client, in milliseconds. */
  readonly idleMs?: number;
}

/** The longest time that a timer can wait. */
const MAX_SECONDS = 2_147_483;

/** Reads `"broker": {"idle": 900}`, in seconds. */
export function readBroker(
  node: ConfigNode,
  warn: (node: ConfigNode, message: string) => void,
): BrokerSettings | undefined {
  if (node.kind !== "map") {
    warn(node, `"broker" is ${kindOf(node)}, not an object such as { "idle": 900 }`);
    return undefined;
  }
  for (const { key, value } of node.members) {
    if (key === "idle") continue;
    const near = nearestNames(key, ["idle"], 1)[0];
    warn(value, `"broker.${key}" is not a setting${near === undefined ? "" : `; did you mean "${near}"?`}`);
  }
  const idle = memberOf(node, "idle");
  if (idle === undefined) return {};
  const seconds = idle.kind === "scalar" && typeof idle.value === "number" ? idle.value : Number.NaN;
  if (seconds >= 0 && seconds <= MAX_SECONDS) return { idleMs: seconds * 1000 };
  warn(idle, `"broker.idle" must be a number of seconds from 0 to ${MAX_SECONDS}; the default is used`);
  return {};
}
