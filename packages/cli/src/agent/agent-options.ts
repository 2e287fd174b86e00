// What `ask`, `agent` and `chat` take, and which of it does not go together.
import { TrunklineError } from "@trunkline/core";

/** Which model, where. */
export interface ModelFlags {
  provider?: string;
  model?: string;
  endpoint?: string;
  /** A script for the provider `echo`. */
  script?: string;
}

/** Options that the three commands share. */
export interface AgentOptions extends ModelFlags {
  /** Names, URIs or globs. */
  tool?: readonly string[];
  /** False with `--no-tools`. */
  tools: boolean;
  surface?: "composite" | "direct";
  stream?: boolean;
  /** `text`, `json`, a JSON Schema, or a file with one. */
  format: string;
  pretty?: boolean;
  think?: boolean;
  maxTurns: number;
  maxTokens?: number;
  /** Seconds. */
  maxTime?: number;
  yes?: boolean;
  allow?: readonly string[];
  usage?: boolean;
  record?: string;
  replay?: string;
  root?: readonly string[];
  store?: string;
  mcp: string | undefined;
}

/** Throws `USAGE` for options that contradict each other. */
export function refuseContradictions(options: AgentOptions & { resume?: boolean | string }): void {
  const { tool, surface, tools } = options;
  const isText = options.format === "text";
  const refuse = (message: string, hint: string) => {
    throw new TrunklineError("USAGE", message, { hint });
  };
  if (!tools && tool !== undefined) refuse("--no-tools and --tool exclude each other.", "Leave one of them out.");
  if (!tools && surface !== undefined) refuse("--no-tools and --surface exclude each other.", "Leave one of them out.");
  if (surface === "composite" && tool !== undefined) {
    refuse(
      "--surface composite and --tool exclude each other.",
      "The composite surface reaches every tool; --tool gives the model single ones instead.",
    );
  }
  if (options.record !== undefined && options.replay !== undefined) {
    refuse("--record and --replay exclude each other.", "A repeated run is recorded already.");
  }
  if (options.resume !== undefined && options.replay !== undefined) {
    refuse("--resume and --replay exclude each other.", "A repeated run has its own conversation.");
  }
  if (options.pretty === true && isText) refuse("--pretty goes with --format json.", "Add --format json.");
  if (options.stream === true && !isText) {
    refuse("--stream goes with text only.", "A JSON document is printed when it is whole: leave --stream out.");
  }
}
