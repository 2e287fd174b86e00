// What each revision of the protocol defines. The table is generated from the official schemas; this is how it is asked.
import { TrunklineError } from "@trunkline/core";
import { REVISIONS } from "./revisions.generated.js";

/** Every revision of the protocol that can be negotiated, oldest first. */
export const SUPPORTED_PROTOCOL_VERSIONS = [
  "2024-11-05",
  "2025-03-26",
  "2025-06-18",
  "2025-11-25",
  "2026-07-28",
] as const;

/** A revision that can be negotiated. */
export type ProtocolVersion = (typeof SUPPORTED_PROTOCOL_VERSIONS)[number];

/** The newest revision. */
export const LATEST_PROTOCOL_VERSION = "2026-07-28" satisfies ProtocolVersion;

/** Who sends a message to whom. */
export type MethodDirection = "client-to-server" | "server-to-client";

/** What one revision defines. Lists are sorted. */
export interface RevisionFacts {
  /** How many definitions its schema has. */
  readonly definitions: number;
  readonly requests: Readonly<Record<MethodDirection, readonly string[]>>;
  readonly notifications: Readonly<Record<MethodDirection, readonly string[]>>;
  /** What a server asks within a result, for the client to answer with its next try; it sends no requests of its own then. */
  readonly inputRequests: readonly string[];
}

// Fails to compile where a supported revision is missing from the generated table.
const FACTS: Readonly<Record<ProtocolVersion, RevisionFacts>> = REVISIONS;

/** Whether this is a revision that can be negotiated. */
export function isSupportedRevision(revision: string): revision is ProtocolVersion {
  return (SUPPORTED_PROTOCOL_VERSIONS as readonly string[]).includes(revision);
}

/** What a revision defines. A revision that is not supported is a `PROTOCOL` error. */
export function revisionFacts(revision: string): RevisionFacts {
  if (isSupportedRevision(revision)) return FACTS[revision];
  throw new TrunklineError("PROTOCOL", `Revision ${revision} of the protocol is not supported.`, {
    hint: `Supported are ${SUPPORTED_PROTOCOL_VERSIONS.join(", ")}.`,
    data: { revision, supported: SUPPORTED_PROTOCOL_VERSIONS },
  });
}

/** Whether a revision has this method, request or notification, as a message in this direction. */
export function definesMethod(revision: string, method: string, direction: MethodDirection): boolean {
  if (!isSupportedRevision(revision)) return false;
  const { requests, notifications } = FACTS[revision];
  return requests[direction].includes(method) || notifications[direction].includes(method);
}

/** Whether a server of this revision may ask this within a result. */
export function definesInputRequest(revision: string, method: string): boolean {
  return isSupportedRevision(revision) && FACTS[revision].inputRequests.includes(method);
}

/** The supported revisions that define a method, oldest first. Without a direction: in either one, or within a result. */
export function revisionsDefining(method: string, direction?: MethodDirection): ProtocolVersion[] {
  return SUPPORTED_PROTOCOL_VERSIONS.filter((revision) => defines(revision, method, direction));
}

/**
 * Throws `PROTOCOL` where a revision does not define a method, and says which ones do. Methods of extensions are in no
 * revision: whoever negotiated an extension knows them.
 */
export function requireMethod(revision: string, method: string, direction?: MethodDirection): void {
  revisionFacts(revision);
  if (defines(revision, method, direction)) return;
  const definedBy = revisionsDefining(method, direction);
  const way = direction === undefined ? "" : ` from ${direction.replaceAll("-", " ")}`;
  throw new TrunklineError("PROTOCOL", `Revision ${revision} does not define method ${method}${way}.`, {
    hint: definedBy.length > 0 ? `It is defined by ${definedBy.join(", ")}.` : "No supported revision defines it.",
    data: { revision, method, definedBy, ...(direction === undefined ? {} : { direction }) },
  });
}

function defines(revision: string, method: string, direction: MethodDirection | undefined): boolean {
  if (direction !== undefined) return definesMethod(revision, method, direction);
  return (
    definesMethod(revision, method, "client-to-server") ||
    definesMethod(revision, method, "server-to-client") ||
    definesInputRequest(revision, method)
  );
}
