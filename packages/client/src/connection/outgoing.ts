// Builds a request as sent: adds what a server of its era needs to the method's parameters.
import { isRecord, TrunklineError } from "@trunkline/core";
import {
  definesMethod,
  isSupportedRevision,
  META,
  type MethodDirection,
  revisionsDefining,
  SUPPORTED_PROTOCOL_VERSIONS,
  TASKS_EXTENSION,
} from "@trunkline/protocol";
import type { Channel } from "../channel/channel.js";
import type { Generation } from "./generation.js";
import type { TaskWish } from "./task-calls.js";

export interface OutgoingRequest {
  method: string;
  params: Record<string, unknown>;
  /** Headers for this request only, if the transport has headers. */
  headers?: Readonly<Record<string, string>>;
  /** Asks a legacy server to run the call as a task; `false` tells a modern one not to. */
  task?: TaskWish | false;
}

interface Sender {
  readonly channel: Channel | undefined;
  /** The token for progress that outlives the answer. */
  readonly progressToken: string | undefined;
  /** The minimum log level; undefined if no one receives log messages. */
  readonly logLevel: string | undefined;
  /** Whether there are roots for channels without their own. */
  readonly hasRoots: boolean;
}

/** Builds the parameters to send. Each request tells a modern server what this caller can answer. */
export function paramsFor(
  generation: Generation,
  { params, task }: OutgoingRequest,
  { channel, progressToken, logLevel, hasRoots }: Sender,
): Record<string, unknown> {
  const progress = progressToken === undefined ? {} : { progressToken };
  const own = isRecord(params._meta) ? params._meta : {};
  if (generation.era !== "modern") {
    return {
      ...params,
      ...(progressToken === undefined ? {} : { _meta: { ...progress, ...own } }),
      ...(task ? { task: task.ttlMs === undefined ? {} : { ttl: task.ttlMs } } : {}),
    };
  }
  return {
    ...params,
    _meta: {
      [META.clientCapabilities]: {
        ...(hasRoots ? { roots: {} } : {}),
        ...channel?.abilities,
        ...(task !== false && offersTasks(generation) ? { extensions: { [TASKS_EXTENSION]: {} } } : {}),
      },
      ...(logLevel === undefined ? {} : { [META.logLevel]: logLevel }),
      ...progress,
      ...own,
    },
  };
}

/** Throws if the server's revision does not have the method. */
export function checkRevision(generation: Generation, method: string): void {
  const { revision } = generation;
  if (definesMethod(revision, method, "client-to-server")) return;
  // A method that no revision defines belongs to an extension, so the server decides.
  if (revisionsDefining(method).length === 0) return;
  // The tasks extension kept some method names of the revision it came from.
  if (generation.era === "modern" && method.startsWith("tasks/") && offersTasks(generation)) return;
  requireMethod(revision, method, "client-to-server");
}

/**
 * Throws `PROTOCOL` if a revision does not define a method, and says which ones do. Methods of extensions are in no
 * revision: check for the extension instead.
 */
export function requireMethod(revision: string, method: string, direction?: MethodDirection): void {
  if (!isSupportedRevision(revision)) {
    throw new TrunklineError("PROTOCOL", `Revision ${revision} of the protocol is not supported.`, {
      hint: `Supported: ${SUPPORTED_PROTOCOL_VERSIONS.join(", ")}.`,
      data: { revision, supported: SUPPORTED_PROTOCOL_VERSIONS },
    });
  }
  const definedBy = revisionsDefining(method, direction);
  if (definedBy.includes(revision)) return;
  const way = direction === undefined ? "" : ` from ${direction.replaceAll("-", " ")}`;
  throw new TrunklineError("PROTOCOL", `Revision ${revision} does not define method ${method}${way}.`, {
    hint: definedBy.length > 0 ? `It is defined by ${definedBy.join(", ")}.` : "No supported revision defines it.",
    data: { revision, method, definedBy, direction },
  });
}

/** Whether a modern server has the tasks extension. */
function offersTasks({ capabilities }: Generation): boolean {
  return isRecord(capabilities.extensions) && capabilities.extensions[TASKS_EXTENSION] !== undefined;
}
