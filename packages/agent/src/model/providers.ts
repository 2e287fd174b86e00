// The providers that there are: where they are, and what a key for them is called.
import { nearestNames, TrunklineError } from "@trunkline/core";

/** The wire format that a provider speaks. */
export type ProviderFormat = "openai" | "anthropic" | "google" | "echo";

/** What is known of a provider before any request. */
export interface ProviderInfo {
  readonly name: string;
  readonly format: ProviderFormat;
  /** Where it is, unless told otherwise. Absent: an endpoint has to be given. */
  readonly endpoint?: string | undefined;
  /** Whether its own endpoint takes nobody without a key. */
  readonly needsKey: boolean;
  /** Environment variables that may hold the key, the first one that is set wins. The command line reads them. */
  readonly keyVariables: readonly string[];
  /** What to do when it cannot be reached. */
  readonly unreachableHint: string;
}

const NETWORK_HINT = "Check the network and the endpoint (--endpoint).";

const TABLE: readonly ProviderInfo[] = [
  {
    name: "openai",
    format: "openai",
    endpoint: "https://api.openai.com/v1",
    needsKey: true,
    keyVariables: ["OPENAI_API_KEY"],
    unreachableHint: NETWORK_HINT,
  },
  {
    name: "openai-compatible",
    format: "openai",
    needsKey: false,
    // A variable of its own: the key of one provider is never sent to the endpoint of another.
    keyVariables: ["TRUNKLINE_API_KEY"],
    unreachableHint: "Start the server behind the endpoint, or name another one with --endpoint.",
  },
  {
    name: "ollama",
    format: "openai",
    endpoint: "http://127.0.0.1:11434/v1",
    needsKey: false,
    keyVariables: ["OLLAMA_API_KEY"],
    unreachableHint: "Start it with `ollama serve`, or name another endpoint with --endpoint.",
  },
  {
    name: "lmstudio",
    format: "openai",
    endpoint: "http://127.0.0.1:1234/v1",
    needsKey: false,
    keyVariables: ["LMSTUDIO_API_KEY"],
    unreachableHint:
      "Start the local server in LM Studio (`lms server start`), or name another endpoint with --endpoint.",
  },
  {
    name: "llamacpp",
    format: "openai",
    endpoint: "http://127.0.0.1:8080/v1",
    needsKey: false,
    keyVariables: ["LLAMA_API_KEY"],
    unreachableHint: "Start `llama-server`, or name another endpoint with --endpoint.",
  },
  {
    name: "vllm",
    format: "openai",
    endpoint: "http://127.0.0.1:8000/v1",
    needsKey: false,
    keyVariables: ["VLLM_API_KEY"],
    unreachableHint: "Start `vllm serve`, or name another endpoint with --endpoint.",
  },
  {
    name: "anthropic",
    format: "anthropic",
    endpoint: "https://api.anthropic.com/v1",
    needsKey: true,
    keyVariables: ["ANTHROPIC_API_KEY"],
    unreachableHint: NETWORK_HINT,
  },
  {
    name: "google",
    format: "google",
    endpoint: "https://generativelanguage.googleapis.com/v1beta",
    needsKey: true,
    keyVariables: ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
    unreachableHint: NETWORK_HINT,
  },
  { name: "echo", format: "echo", needsKey: false, keyVariables: [], unreachableHint: "" },
];

/** The names of all providers. */
export const PROVIDER_NAMES: readonly string[] = TABLE.map(({ name }) => name);

/** What is known of a provider. Throws `INVALID_ARGUMENT` with the nearest names where there is none. */
export function providerInfo(name: string): ProviderInfo {
  const found = TABLE.find((info) => info.name === name);
  if (found !== undefined) return found;
  const nearest = nearestNames(name, PROVIDER_NAMES);
  throw new TrunklineError("INVALID_ARGUMENT", `There is no provider called "${name}".`, {
    hint:
      nearest.length > 0
        ? `Did you mean ${nearest.join(" or ")}?`
        : `Providers are ${PROVIDER_NAMES.join(", ")}; any other endpoint goes with openai-compatible and --endpoint.`,
  });
}
