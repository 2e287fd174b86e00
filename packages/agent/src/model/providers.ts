// The known providers: their endpoints and the names of their keys.
import { nearestNames, TrunklineError } from "@trunkline/core";

export type ProviderFormat = "openai" | "anthropic" | "google" | "echo";

export interface ProviderInfo {
  readonly name: string;
  readonly format: ProviderFormat;
  /** The default endpoint. If undefined, the user must give one. */
  readonly endpoint?: string;
  /** Whether the provider's own endpoint requires a key. */
  readonly needsKey: boolean;
  /** Environment variables for the key; the first one that is set wins. The command line reads them. */
  readonly keyVariables: readonly string[];
  /** The hint shown when the provider cannot be reached. */
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
    // A separate variable, because one provider's key is never sent to another's endpoint.
    keyVariables: ["TRUNKLINE_API_KEY"],
    unreachableHint: "Start the server behind the endpoint, or set another one with --endpoint.",
  },
  {
    name: "ollama",
    format: "openai",
    endpoint: "http://127.0.0.1:11434/v1",
    needsKey: false,
    keyVariables: ["OLLAMA_API_KEY"],
    unreachableHint: "Start it with `ollama serve`, or set another endpoint with --endpoint.",
  },
  {
    name: "lmstudio",
    format: "openai",
    endpoint: "http://127.0.0.1:1234/v1",
    needsKey: false,
    keyVariables: ["LMSTUDIO_API_KEY"],
    unreachableHint:
      "Start the local server in LM Studio (`lms server start`), or set another endpoint with --endpoint.",
  },
  {
    name: "llamacpp",
    format: "openai",
    endpoint: "http://127.0.0.1:8080/v1",
    needsKey: false,
    keyVariables: ["LLAMA_API_KEY"],
    unreachableHint: "Start `llama-server`, or set another endpoint with --endpoint.",
  },
  {
    name: "vllm",
    format: "openai",
    endpoint: "http://127.0.0.1:8000/v1",
    needsKey: false,
    keyVariables: ["VLLM_API_KEY"],
    unreachableHint: "Start `vllm serve`, or set another endpoint with --endpoint.",
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

export const PROVIDER_NAMES: readonly string[] = TABLE.map(({ name }) => name);

/** Throws `INVALID_ARGUMENT`, with the nearest names, for an unknown provider. */
export function providerInfo(name: string): ProviderInfo {
  const found = TABLE.find((info) => info.name === name);
  if (found !== undefined) return found;
  const nearest = nearestNames(name, PROVIDER_NAMES);
  throw new TrunklineError("INVALID_ARGUMENT", `No provider is named "${name}".`, {
    hint:
      nearest.length > 0
        ? `Did you mean ${nearest.join(" or ")}?`
        : `Available providers: ${PROVIDER_NAMES.join(", ")}. For any other endpoint use openai-compatible with --endpoint.`,
  });
}
