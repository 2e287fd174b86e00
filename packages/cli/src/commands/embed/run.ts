import { type Embedder, printableJson, TrunklineError } from "@trunkline/core";
import { createEmbedder, createEndpointEmbedder, shortened } from "@trunkline/embed";
import { EXIT } from "../../app/exit-codes.js";
import type { CommandContext } from "../../terminal/context.js";

export interface EmbedOptions {
  texts: readonly string[];
  json?: boolean;
  dimensions?: number;
  model?: string;
  endpoint?: string;
}

/** Prints one vector per text, from the embedded model or from an endpoint. */
export async function embed(context: CommandContext, options: EmbedOptions): Promise<number> {
  const { dimensions } = options;
  if (options.endpoint !== undefined && options.model === undefined) {
    throw new TrunklineError("USAGE", "--endpoint needs --model.", {
      hint: "It is the endpoint's name for the model.",
    });
  }
  await using embedder = await open(context, options);
  const { model } = embedder;
  if (dimensions !== undefined && dimensions > embedder.dimensions) {
    throw new TrunklineError(
      "USAGE",
      `The model returns vectors of ${embedder.dimensions} numbers, not ${dimensions}.`,
    );
  }
  const vectors = await embedder.embed(options.texts, { signal: context.signal });
  const numbers = vectors.map((vector) =>
    Array.from(
      dimensions === undefined || dimensions === vector.length ? vector : shortened(vector, dimensions),
      shortestNumber,
    ),
  );
  if (options.json) {
    context.out(printableJson({ model, dimensions: numbers[0]?.length ?? 0, vectors: numbers }));
  } else {
    for (const vector of numbers) context.out(vector.join(" "));
  }
  return EXIT.success;
}

async function open(context: CommandContext, options: EmbedOptions): Promise<Embedder> {
  const { home, logger, signal } = context;
  const { endpoint, model, dimensions } = options;
  if (endpoint === undefined) return await createEmbedder({ home, model, logger, signal });
  const apiKey = apiKeyFor(endpoint, context.env);
  if (apiKey !== undefined) context.redactor.add(apiKey);
  return await createEndpointEmbedder({ url: endpoint, model: model ?? "", apiKey, dimensions, signal });
}

/** Finds the fewest digits that identify the same float32; printed as a double it would have twice as many. */
function shortestNumber(value: number): number {
  for (const digits of [6, 7, 8]) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return Number(value.toPrecision(9));
}

/** Returns the key for this endpoint. A key for one provider is never sent to another. */
function apiKeyFor(endpoint: string, env: Readonly<NodeJS.ProcessEnv>): string | undefined {
  const host = URL.canParse(endpoint) ? new URL(endpoint).host : undefined;
  return env.TRUNKLINE_EMBED_API_KEY || (host === "api.openai.com" ? env.OPENAI_API_KEY : undefined) || undefined;
}
