// What is known about a server of a hub.
import type { ServerDefinition } from "@trunkline/config";
import type { SourcedTool, TrunklineError } from "@trunkline/core";
import type { SignInReport } from "../auth/sign-in-report.js";
import type { ServerState } from "../connection/connection-options.js";
import type { HeldEntry } from "../pins/server-pins.js";
import type { ToolsMeasure } from "./remembered-tools.js";

/** The status of one server. Secrets are already redacted. */
export interface ServerStatus {
  readonly name: string;
  readonly state: ServerState;
  readonly config: ServerDefinition;
  readonly error?: TrunklineError;
  /** Why a connected server could not list its tools. */
  readonly toolsError?: TrunklineError;
  readonly toolCount: number;
  readonly resourceCount: number;
  readonly promptCount: number;
  /** ISO 8601; missing while the server is not connected. */
  readonly connectedAt?: string;
  readonly revision?: string;
  readonly serverInfo?: { name: string; version: string };
  readonly roundTripMs?: number;
  /** How long connecting and listing took. */
  readonly tookMs?: number;
  /** The state of the sign-in, for an HTTP server that has been tried. */
  readonly signIn?: SignInReport;
  /** The process id of a stdio server. */
  readonly pid?: number;
  /** The last lines of its stderr. */
  readonly stderr: readonly string[];
}

/** A server and its tools, whether it is connected or not. */
export interface KnownServer {
  readonly status: ServerStatus;
  /** Its tools, current or from its last connection; undefined if it was never connected. */
  readonly tools: readonly SourcedTool[] | undefined;
  /** Tools that it lists but that are not offered. */
  readonly held: readonly HeldEntry[];
  /** What is known about these tools, if they have been measured. */
  readonly measure: ToolsMeasure | undefined;
}
