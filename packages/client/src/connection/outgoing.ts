// A request as it is sent: what a server of its era has to be told beside the parameters of the method.
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

/** A request and what it needs beside its parameters. */
export interface OutgoingRequest {
  method: string;
  params: Record<string, unknown>;
  /** Headers of this request alone, where the transport has headers. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** A legacy server is asked to make the call a task; `false` tells a modern one that it may not. */
  task?: TaskWish | false | undefined;
}

/** Who makes a request, and what that means for it. */
interface Sender {
  readonly channel: Channel | undefined;
  /** Under which the server tells how far it is, where that outlives the answer. */
  readonly progressToken: string | undefined;
  /** The level from which the server sends log messages; undefined where nobody takes them. */
  readonly logLevel: string | undefined;
  /** Whether there are roots for channels that have none of their own. */
  readonly hasRoots: boolean;
}

/** What is sent. A modern server learns with each request what this caller, and no other, can answer. */
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

/** Throws where the server's revision does not have the method. */
export function checkRevision(generation: Generation, method: string): void {
  const { revision } = generation;
  if (revision === undefined || definesMethod(revision, method, "client-to-server")) return;
  // What no revision knows is the method of an extension, and the server's business.
  if (revisionsDefining(method).length === 0) return;
  // The extension has kept some names of the revision that it came from.
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
      hint: `Supported are ${SUPPORTED_PROTOCOL_VERSIONS.join(", ")}.`,
      data: { revision, supported: SUPPORTED_PROTOCOL_VERSIONS },
    });
  }
  const definedBy = revisionsDefining(method, direction);
  if (definedBy.includes(revision)) return;
  const way = direction === undefined ? "" : ` from ${direction.replaceAll("-", " ")}`;
  throw new TrunklineError("PROTOCOL", `Revision ${revision} does not define method ${method}${way}.`, {
    hint: definedBy.length > 0 ? `It is defined by ${definedBy.join(", ")}.` : "No supported revision defines it.",
    data: { revision, method, definedBy, ...(direction === undefined ? {} : { direction }) },
  });
}

/** Whether the answer to a request may be a task. */
export function mayBecomeTask(generation: Generation, { method, task }: OutgoingRequest): boolean {
  if (method !== "tools/call" || task === false) return false;
  return generation.era === "modern" ? offersTasks(generation) : task !== undefined;
}

/** Whether a modern server has the extension. */
function offersTasks({ client }: Generation): boolean {
  return client.getServerCapabilities()?.extensions?.[TASKS_EXTENSION] !== undefined;
}
