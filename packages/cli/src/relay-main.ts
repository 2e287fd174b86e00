// The first code of every command line: decides whether the user's broker does the work. Loads almost nothing.
import { brokerUseOf } from "./commands/broker/broker-commands.js";
import { type Installation, relay } from "./relay-process.js";

/**
 * Has the broker do the work of a command line, if it can. Returns whether it did; otherwise the command runs in this
 * process.
 */
export async function relayToBroker(args: readonly string[], installation: Installation): Promise<boolean> {
  const use = brokerUseOf(args, process.env, process.platform);
  if (use === undefined) return false;
  return await relay(use, args, installation);
}
