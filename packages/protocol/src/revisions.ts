// Lookups for what each protocol revision defines. The table is generated from the official schemas.
import { REVISIONS } from "./revisions.generated.js";

/** Every revision that can be negotiated, oldest first. */
export const SUPPORTED_PROTOCOL_VERSIONS = [
  "2024-11-05",
  "2025-03-26",
  "2025-06-18",
  "2025-11-25",
  "2026-07-28",
] as const;

export type ProtocolVersion = (typeof SUPPORTED_PROTOCOL_VERSIONS)[number];

export const LATEST_PROTOCOL_VERSION = "2026-07-28" satisfies ProtocolVersion;

/** Legacy revisions have a handshake and a persistent connection; modern ones have neither. */
export type Era = "legacy" | "modern";

/** The first stateless revision. */
export const MODERN_REVISION = "2026-07-28" satisfies ProtocolVersion;

/** The revisions that start with a handshake, oldest first. */
export const LEGACY_REVISIONS: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS.filter(
  (revision) => !isModernRevision(revision),
);

/** The stateless revisions, as listed by `server/discover` and in error -32022. */
export const MODERN_REVISIONS: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS.filter(isModernRevision);

/** The revision offered to a legacy client that asks for an unsupported one. */
export const LATEST_LEGACY_REVISION = "2025-11-25" satisfies ProtocolVersion;

/** The only revision with message batches. */
export const BATCH_REVISION = "2025-03-26" satisfies ProtocolVersion;

export type MethodDirection = "client-to-server" | "server-to-client";

/** What one revision defines. Lists are sorted. */
interface RevisionFacts {
  /** The number of definitions in the schema. */
  readonly definitions: number;
  readonly requests: Readonly<Record<MethodDirection, readonly string[]>>;
  readonly notifications: Readonly<Record<MethodDirection, readonly string[]>>;
  /**
   * What a server can ask within a result; the client answers when it retries. In revisions that have these, servers
   * send no requests.
   */
  readonly inputRequests: readonly string[];
}

/** Fails to compile if the generated table lacks a supported revision. */
export const REVISION_FACTS: Readonly<Record<ProtocolVersion, RevisionFacts>> = REVISIONS;

/** Revisions are dates, so a string comparison orders them by age. */
export function isAtLeast(revision: string, since: ProtocolVersion): boolean {
  return revision >= since;
}

/** Whether this revision is stateless, supported or not. */
export function isModernRevision(revision: string): boolean {
  return isAtLeast(revision, "2026-07-28");
}

export function isSupportedRevision(revision: string): revision is ProtocolVersion {
  return (SUPPORTED_PROTOCOL_VERSIONS as readonly string[]).includes(revision);
}

/** Returns the revision to use for a legacy client that asked for this one. */
export function negotiateLegacy(requested: unknown): string {
  return LEGACY_REVISIONS.find((revision) => revision === requested) ?? LATEST_LEGACY_REVISION;
}

/** Whether a revision defines this method (a request or notification) in this direction. */
export function definesMethod(revision: string, method: string, direction: MethodDirection): boolean {
  if (!isSupportedRevision(revision)) return false;
  const { requests, notifications } = REVISION_FACTS[revision];
  return requests[direction].includes(method) || notifications[direction].includes(method);
}

/** Whether a server with this revision can ask this within a result. */
export function definesInputRequest(revision: string, method: string): boolean {
  return isSupportedRevision(revision) && REVISION_FACTS[revision].inputRequests.includes(method);
}

/** The revisions that define a method, oldest first. Without a direction: in either direction or within a result. */
export function revisionsDefining(method: string, direction?: MethodDirection): ProtocolVersion[] {
  return SUPPORTED_PROTOCOL_VERSIONS.filter((revision) =>
    direction === undefined
      ? definesMethod(revision, method, "client-to-server") ||
        definesMethod(revision, method, "server-to-client") ||
        definesInputRequest(revision, method)
      : definesMethod(revision, method, direction),
  );
}
