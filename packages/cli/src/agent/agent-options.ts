// The options of `ask`, `agent` and `chat`, and which of them conflict.
import { TrunklineError } from "@trunkline/core";

export interface ModelFlags {
  provider?: string;
  model?: string;
  endpoint?: string;
  /** A script for the provider `echo`. */
  script?: string;
}

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

/** Throws `USAGE` for conflicting options. */
export function refuseContradictions(options: AgentOptions & { resume?: boolean | string }): void {
  const { tool, surface, tools } = options;
  const isText = options.format === "text";
  const refuse = (message: string, hint: string) => {
    throw new TrunklineError("USAGE", message, { hint });
  };
  if (!tools && tool !== undefined) refuse("--no-tools and --tool cannot be combined.", "Remove one of them.");
  if (!tools && surface !== undefined) refuse("--no-tools and --surface cannot be combined.", "Remove one of them.");
  if (surface === "composite" && tool !== undefined) {
    refuse(
      "--surface composite and --tool cannot be combined.",
      "The composite surface already reaches every tool; --tool gives the model individual tools instead.",
    );
  }
  if (options.record !== undefined && options.replay !== undefined) {
    refuse("--record and --replay cannot be combined.", "A replayed run is already recorded.");
  }
  if (options.resume !== undefined && options.replay !== undefined) {
    refuse("--resume and --replay cannot be combined.", "A replayed run has its own conversation.");
  }
  if (options.pretty === true && isText) refuse("--pretty only works with --json.", "Add --json.");
  if (options.stream === true && !isText) {
    refuse("--stream only works with text.", "A JSON document is printed when it is complete. Remove --stream.");
  }
}
