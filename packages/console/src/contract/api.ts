// The console's API: every request with its parameters and its answer, in one place for the page and the server. A request
// is `POST /api/<name>` with the parameters as JSON.

import type { QuestionAnswer, QuestionRow } from "./questions-api.js";
import type { AddedServer, DefinitionRow, ImportRow, NewServer, ServerAction, ServerRow } from "./servers-api.js";
import type { SettingsReport } from "./settings-api.js";
import type { Json, OperationAnswer, ToolAnswer, ToolDefinition, ToolList } from "./tools-api.js";
import type { CallDetails, CallRow, DayRow } from "./traffic-api.js";

/** A folder that Trunkline works for: its configuration, servers and store. */
interface WorkspaceRow {
  readonly id: string;
  readonly folder: string;
  /** The folder as people write it: `~/shop`. */
  readonly label: string;
  /** How many programs are connected to it. */
  readonly clients: number;
}

/** A program that is connected to the broker. */
export interface ClientRow {
  readonly program: string;
  readonly pid: number;
  /** The label of its workspace. */
  readonly folder?: string;
  /** ISO 8601. */
  readonly since: string;
}

export interface Overview {
  readonly version: string;
  readonly pid: number;
  /** `broker`, or `process` if the console runs in the process of `trunkline console`. */
  readonly host: "broker" | "process";
  /** ISO 8601. */
  readonly startedAt: string;
  readonly memoryBytes?: number;
  readonly workspaces: readonly WorkspaceRow[];
  readonly clients: readonly ClientRow[];
  /** How many things wait for a person. */
  readonly questions: number;
  /** What sharing servers saves, as `trunkline broker` counts it. */
  readonly saved: { readonly processes: number; readonly memoryBytes?: number };
}

/** Parameters of a request about one workspace. */
interface InWorkspace {
  readonly workspace: string;
}

/** Requests by name. */
interface ConsoleApi {
  overview: { params: Record<string, never>; answer: Overview };

  /** Every configured server. With `connect`, those that have not been tried are connected first. */
  servers: { params: InWorkspace & { connect?: boolean }; answer: { servers: readonly ServerRow[] } };
  "servers/act": { params: InWorkspace & { server: string; action: ServerAction }; answer: Record<string, never> };
  /** Begins a sign-in. The person goes to `url`; the server's state changes when they are done. */
  "servers/sign-in": { params: InWorkspace & { server: string }; answer: { url: string; host: string } };
  /** Adds an entry to a configuration file. With `dryRun`, nothing is written: the answer says what would be. */
  "servers/add": { params: InWorkspace & { server: NewServer; dryRun?: boolean }; answer: AddedServer };
  /** Servers that other programs have configured. */
  "servers/imports": { params: InWorkspace; answer: { imports: readonly ImportRow[] } };
  "servers/import": {
    params: InWorkspace & { ids: readonly string[] };
    answer: {
      added: readonly string[];
      files: readonly string[];
      skipped: readonly { readonly name: string; readonly reason: string }[];
    };
  };
  /** Definitions that are held or have changed, newest first. */
  definitions: { params: InWorkspace; answer: { definitions: readonly DefinitionRow[] } };
  /** Accepts a held definition: exactly the one with this hash, which the person has seen. */
  "definitions/approve": { params: InWorkspace & { id: string; hash: string }; answer: Record<string, never> };

  /** Finished calls, newest first. `before` is the cursor of an earlier answer. */
  calls: {
    params: InWorkspace & { limit: number; before?: string };
    answer: { calls: readonly CallRow[]; next?: string; isRecording: boolean };
  };
  "calls/details": { params: InWorkspace & { id: string }; answer: CallDetails };
  /** Calls and tokens by day, oldest first. */
  "calls/days": { params: InWorkspace & { days: number }; answer: { days: readonly DayRow[] } };
  /** Keeps arguments and results of further calls in memory, redacted, until it is switched off or the broker ends. */
  "calls/record": { params: InWorkspace & { on: boolean }; answer: { isRecording: boolean } };

  /** All known tools, or those that fit a search, best first, ranked as for an agent. */
  tools: { params: InWorkspace & { find?: string }; answer: ToolList };
  "tools/definition": { params: InWorkspace & { server: string; tool: string }; answer: ToolDefinition };
  /** Calls a tool as a client would: with policy, questions and a journal entry. */
  "tools/call": {
    params: InWorkspace & { server: string; tool: string; arguments: Readonly<Record<string, Json>> };
    answer: ToolAnswer;
  };
  /** Runs one operation of `query`, `execute` or `session`: everything about the store and the graph. */
  operation: {
    params: InWorkspace & { op: string; params: Readonly<Record<string, Json>> };
    answer: OperationAnswer;
  };

  /** What waits for a person, in all workspaces. */
  questions: { params: Record<string, never>; answer: { questions: readonly QuestionRow[] } };
  "questions/answer": { params: { id: string; answer: QuestionAnswer }; answer: Record<string, never> };

  settings: { params: InWorkspace; answer: SettingsReport };
  /** Opens one of the files in `settings` with the system's editor. */
  "settings/open": { params: InWorkspace & { path: string }; answer: { opened: boolean } };
  /** Withdraws an approval that `settings` lists. */
  "settings/revoke": { params: InWorkspace & { id: string }; answer: Record<string, never> };
}

export type RequestName = keyof ConsoleApi;
export type ParamsOf<Name extends RequestName> = ConsoleApi[Name]["params"];
export type AnswerOf<Name extends RequestName> = ConsoleApi[Name]["answer"];

/** Why a request failed. The status is 4xx or 5xx. */
export interface ApiError {
  readonly error: {
    /** An error code of Trunkline, or `UNAUTHORIZED`. */
    readonly code: string;
    readonly message: string;
    readonly hint?: string;
  };
}

/** What a page shows that may change. `calls`: calls were missed, or recording was switched on or off. */
export type Topic = "overview" | "servers" | "definitions" | "tools" | "questions" | "settings" | "store" | "calls";

/** A line of the event stream, `POST /api/events`: JSON, one event per line. */
export type ConsoleEvent =
  /** The first event. Another `pid` than before: the broker has been replaced, so ask for everything again. */
  | { readonly kind: "hello"; readonly version: string; readonly pid: number }
  /** Ask for these again. Without a workspace, it concerns all of them. */
  | { readonly kind: "changed"; readonly topics: readonly Topic[]; readonly workspace?: string }
  /** Calls that have finished, oldest first. */
  | { readonly kind: "calls"; readonly workspace: string; readonly calls: readonly CallRow[] }
  /** Sent when nothing else is, so that a dead connection is noticed. */
  | { readonly kind: "tick" };
