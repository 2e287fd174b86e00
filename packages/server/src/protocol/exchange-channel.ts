// The channel of an exchange: what upstream servers can ask the downstream client, and tell it, while its request is answered.
// It has exactly the abilities that the client declares.
import type { Abilities, Channel, QuestionContext, Root } from "@trunkline/client";
import { isRecord, type ToolProgress, TrunklineError } from "@trunkline/core";
import {
  isLogged,
  notificationMessage,
  type OutgoingMessage,
  type RpcId,
  type RpcParams,
  withoutOwnMeta,
} from "@trunkline/protocol";
import type { Outlet } from "./outlet.js";

/** How the client is reached. */
export interface ChannelPorts {
  readonly name: string;
  /** Whom it speaks for, where it is one of several channels of the same client. */
  readonly party?: object | undefined;
  readonly capabilities: RpcParams;
  /** Puts a question to the client, and returns its answer as it came. */
  ask(method: string, params: RpcParams, asked: QuestionContext): Promise<Record<string, unknown>>;
  /** The level from which log messages are wanted; undefined where none are. */
  logLevel(): string | undefined;
  outlet(): Outlet | undefined;
  readonly onProgress: ((progress: ToolProgress) => void) | undefined;
}

/** Makes the channel of one exchange. Questions and answers pass as they are, but for what `_meta` says of a connection. */
export function createExchangeChannel(ports: ChannelPorts): Channel {
  const { name, party, onProgress } = ports;
  const abilities = abilitiesOf(ports.capabilities);
  const channel: { -readonly [Key in keyof Channel]: Channel[Key] } = { name, abilities };
  if (party !== undefined) channel.party = party;
  if (Object.keys(abilities).length > 0) {
    channel.ask = ({ method, params = {} }, context) => ports.ask(method, withoutOwnMeta(params), context);
  }
  channel.log = ({ server, level, logger, data }) => {
    const threshold = ports.logLevel();
    if (threshold === undefined || !isLogged(level, threshold)) return;
    const params = { level, logger: logger === undefined ? server : `${server}/${logger}`, data };
    ports.outlet()?.send(notificationMessage("notifications/message", params));
  };
  // A modern upstream server is told with each call.
  const level = ports.logLevel();
  if (level !== undefined) channel.logLevel = level;
  if (onProgress !== undefined) channel.progress = onProgress;
  return channel;
}

/** What upstream servers may ask a client that declares this. */
function abilitiesOf(capabilities: RpcParams): Abilities {
  const modes = elicitationModes(capabilities);
  return {
    ...(modes.length === 0 ? {} : { elicitation: Object.fromEntries(modes.map((mode) => [mode, {}])) }),
    ...(isRecord(capabilities.sampling) ? { sampling: { tools: {} } } : {}),
    ...(isRecord(capabilities.roots) ? { roots: { listChanged: true } } : {}),
  };
}

/** What a client that declares this can be shown. The capability without a mode is that of the time before modes. */
export function elicitationModes(capabilities: RpcParams): ("form" | "url")[] {
  const { elicitation } = capabilities;
  if (!isRecord(elicitation)) return [];
  if (elicitation.form === undefined && elicitation.url === undefined) return ["form"];
  return (["form", "url"] as const).filter((mode) => elicitation[mode] !== undefined);
}

/**
 * Sends progress to the client. It has to grow from one notification to the next; several sources report into one token
 * (the channel and whoever runs the operation), so what does not grow is left out.
 */
export function progressReporter(token: RpcId, outlet: Outlet): (progress: ToolProgress) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (progress) => {
    if (!(progress.progress > last)) return;
    last = progress.progress;
    outlet.send(progressMessage(token, progress));
  };
}

/** The notification of how far a request has come. */
export function progressMessage(token: RpcId, { progress, total, message }: ToolProgress): OutgoingMessage {
  return notificationMessage("notifications/progress", {
    progressToken: token,
    progress,
    ...(total === undefined ? {} : { total }),
    ...(message === undefined ? {} : { message }),
  });
}

/** The roots in a client's answer. */
export function readRoots({ roots }: RpcParams): Root[] {
  if (!Array.isArray(roots)) throw new TrunklineError("PROTOCOL", "The client's answer to roots/list is not one.");
  return roots.filter((root): root is Root => isRecord(root) && typeof root.uri === "string");
}
