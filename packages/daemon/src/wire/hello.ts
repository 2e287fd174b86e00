// The first frames of a connection.
import { isAbsolute } from "node:path";

/** What a terminal looks like to a program. */
export interface TerminalFacts {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly columns?: number;
  readonly rows?: number;
  /** Whether stdin is a pipe or a file. */
  readonly pipedInput: boolean;
}

interface HelloFacts {
  readonly protocol: number;
  /** The version of trunkline, and what tells two builds of it apart. */
  readonly version: string;
  readonly build: string;
  readonly pid: number;
  /** See `executionPlace`: a client that runs elsewhere, such as in a sandbox, is not served. */
  readonly place: string;
}

/** Someone connects. */
export type Hello =
  | (HelloFacts & {
      /** A program that speaks MCP on `trunkline serve`. */
      readonly kind: "client";
      readonly args: readonly string[];
      readonly cwd: string;
      readonly userHome: string;
      readonly env: Readonly<Record<string, string>>;
      /** How many brokers have served this client before. */
      readonly generation: number;
    })
  | (HelloFacts & {
      /** A command that a person runs at a terminal or in a script. */
      readonly kind: "person";
      readonly args: readonly string[];
      readonly cwd: string;
      readonly userHome: string;
      readonly env: Readonly<Record<string, string>>;
      readonly terminal: TerminalFacts;
    })
  | (HelloFacts & {
      /** `trunkline broker`, and a newer version that takes over. */
      readonly kind: "control";
      readonly request: "status" | "stop" | "drain";
    });

export type ClientHello = Extract<Hello, { kind: "client" }>;
export type PersonHello = Extract<Hello, { kind: "person" }>;
export type ControlHello = Extract<Hello, { kind: "control" }>;

export interface Welcome {
  readonly version: string;
  readonly build: string;
  readonly pid: number;
}

/** Why the broker does not take a client, which then works in its own process, or attaches to the next broker. */
export interface Refusal {
  readonly reason: "draining" | "version" | "place" | "environment" | "arguments" | "failed";
  readonly message: string;
}

/** Reads a hello. Returns undefined if it is not one. */
export function readHello(payload: Buffer): Hello | undefined {
  let value: unknown;
  try {
    value = JSON.parse(payload.toString("utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (!isRecord(value)) return undefined;
  const { kind, protocol, version, build, pid, place } = value;
  const isValid =
    typeof protocol === "number" &&
    [version, build, place].every((field) => typeof field === "string") &&
    typeof pid === "number";
  if (!isValid) return undefined;
  if (kind === "control") {
    const { request } = value;
    return request === "status" || request === "stop" || request === "drain" ? (value as unknown as Hello) : undefined;
  }
  if (kind !== "client" && kind !== "person") return undefined;
  const { args, cwd, userHome, env, terminal, generation } = value;
  if (!isTexts(args) || !isPath(cwd) || !isPath(userHome)) return undefined;
  if (!isRecord(env) || !isTexts(Object.values(env))) return undefined;
  if (kind === "client" ? typeof generation !== "number" : !isTerminal(terminal)) return undefined;
  return value as unknown as Hello;
}

function isTerminal(value: unknown): value is TerminalFacts {
  if (!isRecord(value)) return false;
  const { stdin, stdout, stderr, pipedInput, columns, rows } = value;
  return (
    [stdin, stdout, stderr, pipedInput].every((flag) => typeof flag === "boolean") &&
    [columns, rows].every((count) => count === undefined || typeof count === "number")
  );
}

/** A relative path would be resolved in the broker's own folder. */
function isPath(value: unknown): boolean {
  return typeof value === "string" && isAbsolute(value) && !value.includes("\0");
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
