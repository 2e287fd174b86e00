// What the parts of the console share: the workspaces, and how pages hear of changes.
import type { ClientRow, ConsoleEvent, ConsoleHandlers } from "@trunkline/console";
import { TrunklineError } from "@trunkline/core";
import type { App } from "../app/app.js";
import type { CommandContext } from "../terminal/context.js";
import type { CallRecordings } from "./call-recordings.js";
import type { QuestionBoard } from "./question-board.js";

/** A workspace as the console sees it: what `serve` opens for a folder. */
export interface ConsoleWorkspace {
  readonly id: string;
  readonly folder: string;
  /** How many programs are connected to it. */
  readonly clients: number;
  readonly app: App;
}

/** A running server, as the broker knows it. */
export interface RunningServer {
  readonly name: string;
  readonly state: string;
  readonly share: string;
  readonly pid?: number;
  readonly memoryBytes?: number;
  readonly notShared?: string;
  readonly lastCallAt?: string;
  /** The folders of the workspaces that have it in their configuration. */
  readonly folders: readonly string[];
  /** The programs that have called it, with their folders. */
  readonly usedBy: readonly { readonly program: string; readonly folder: string }[];
}

/** What runs, as `trunkline broker` shows it. */
export interface Running {
  readonly startedMs: number;
  readonly memoryBytes?: number;
  readonly clients: readonly ClientRow[];
  readonly servers: readonly RunningServer[];
  readonly saved: { readonly processes: number; readonly memoryBytes?: number };
}

/** Where the console runs: in the broker, or in a process of its own. */
export interface ConsolePlace {
  readonly host: "broker" | "process";
  /** The context of that process: its home, version and logger. */
  readonly context: CommandContext;
  workspaces(): readonly ConsoleWorkspace[];
  running(): Running;
}

export interface ConsoleWorld extends ConsolePlace {
  readonly questions: QuestionBoard;
  readonly recordings: CallRecordings;
  /** Finds a workspace by its id. Throws `NOT_FOUND`. */
  workspace(id: string): ConsoleWorkspace;
  /** Sends an event to all open pages. */
  send(event: ConsoleEvent): void;
}

/** The requests that one part answers. */
type PartOf<Name extends keyof ConsoleHandlers> = Pick<ConsoleHandlers, Name>;

/** A part that watches something while pages are open. */
export interface WatchingPart<Name extends keyof ConsoleHandlers> {
  readonly handlers: PartOf<Name>;
  /** Called when a first page is opened, and when a workspace was added. Idempotent. */
  watch(): void;
  /** Called when the last page is closed, and when the console ends. Idempotent. */
  rest(): void;
}

export function workspaceIn(workspaces: readonly ConsoleWorkspace[], id: string): ConsoleWorkspace {
  const found = workspaces.find((workspace) => workspace.id === id);
  if (found !== undefined) return found;
  throw new TrunklineError("NOT_FOUND", "This workspace is closed.", { hint: "Choose another one." });
}

/** `~/shop` for a folder in the user's home. */
export function folderLabel(folder: string, userHome: string): string {
  if (folder === userHome) return "~";
  return folder.startsWith(`${userHome}/`) ? `~${folder.slice(userHome.length)}` : folder;
}
