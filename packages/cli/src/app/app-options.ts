// What a run of the program can choose about its parts.
import type { Channel, SignIn } from "@trunkline/client";
import type { ServiceSettings } from "./app-service.js";
import type { TypedServer } from "./typed-server.js";

export interface AppOptions {
  /** The file given with `--mcp`. */
  readonly mcp?: string;
  /** A server described on the command line: it is the whole configuration. */
  readonly typed?: TypedServer;
  /**
   * How the configuration is read.
   * - `ask` (default): for a command. At a terminal the user is asked for inputs, and for trust before servers start.
   * - `headless`: never asks, even at a terminal, which may carry the protocol.
   * - `live`: headless, and reloaded whenever a file changes.
   * - `own`: ignores a file named by the environment and reads only the files people write to. Never asks.
   */
  readonly config?: "ask" | "headless" | "live" | "own";
  /**
   * Whether a server will be used: the user is not asked about other servers, and not warned about them. Default: all of
   * them. `unknown`: a script decides while it runs, so warnings are printed when a server is first used.
   */
  readonly wanted?: ((server: string) => boolean) | "unknown";
  /**
   * Folders to report to servers as roots. Only on request: server-filesystem, for one, uses them instead of the
   * folders in its own arguments.
   */
  readonly roots?: readonly string[];
  /** How the user signs in. Without it a server that needs a sign-in is an error. */
  readonly signIn?: SignIn;
  /** Answers servers' questions. Default: the person at the terminal, if there is one. */
  readonly channel?: AppChannel;
  /** `doctor`: connect within this time, whatever the files say about inputs, trust and mistakes. */
  readonly checkWithinMs?: number;
  /** The store's folder, as given with `--store`. */
  readonly store?: string;
  /** The id that the store must have. */
  readonly storeId?: string;
  /** Only read the store, which starts faster; a named store must exist. */
  readonly reading?: boolean;
  /** The store must exist. */
  readonly mustExist?: boolean;
  /** Whether to use the embedded model, if installed. Default true. */
  readonly embed?: boolean;
  /** The name of this process among the gateways on a store in a database. Default: a random one. */
  readonly gateway?: string;
  readonly service?: ServiceSettings;
}

/** A channel that can clear its progress line. */
export type AppChannel = Channel & { clearProgress?(): void };
