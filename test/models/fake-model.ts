// A fake model: a server on localhost that speaks the formats of OpenAI, Anthropic and Google, depending on the request
// path, and plays one turn after another.
import {
  type Answer,
  anthropic,
  cut,
  failure,
  google,
  openAi,
  type ProviderServer,
  type SeenRequest,
  sse,
  startProviderServer,
} from "../../packages/agent/test/provider-server.js";

/** One turn: its text, its tool calls, or how it fails. */
export type FakeTurn =
  | { readonly text: string }
  | { readonly calls: readonly { readonly name: string; readonly args: Readonly<Record<string, unknown>> }[] }
  /** The stream breaks after this text. */
  | { readonly cut: string }
  | { readonly status: number; readonly body?: object | string; readonly headers?: Readonly<Record<string, string>> };

/** Starts the model. `url` is the prefix of the providers' base URLs. */
export async function startFakeModel(...turns: readonly FakeTurn[]): Promise<ProviderServer> {
  return await startProviderServer(...turns.map(answerOf));
}

/** Returns a provider's base URL at the fake model. */
export function endpointOf({ url }: Pick<ProviderServer, "url">, provider: string): string {
  return provider === "google" ? `${url}/v1beta` : `${url}/v1`;
}

function answerOf(turn: FakeTurn): Answer {
  return (response, request) => {
    if ("status" in turn)
      return failure(turn.status, turn.body ?? { error: { message: "no" } }, { ...turn.headers })(response, request);
    if ("cut" in turn) return cut([openAi.chunk({ content: turn.cut })])(response, request);
    return eventsOf(turn, request)(response, request);
  };
}

function eventsOf(turn: Exclude<FakeTurn, { status: number } | { cut: string }>, { path }: SeenRequest): Answer {
  const calls = "calls" in turn ? turn.calls.map((call, index) => ({ ...call, id: `call_${index + 1}` })) : [];
  const text = "text" in turn ? turn.text : "";
  const pieces = text.match(/\s*\S+|\s+$/g) ?? [];
  if (path.endsWith("/chat/completions")) {
    return sse(
      calls.length > 0
        ? openAi.calls(...calls.map(({ id, name, args }) => ({ id, name, pieces: [JSON.stringify(args)] })))
        : openAi.text(...pieces),
    );
  }
  if (path.endsWith("/messages")) {
    const blocks =
      calls.length > 0
        ? calls.map(({ id, name, args }, index) =>
            anthropic.toolBlock(index, { id, name, pieces: [JSON.stringify(args)] }),
          )
        : [anthropic.textBlock(0, ...pieces)];
    return sse(anthropic.answer(blocks, calls.length > 0 ? "tool_use" : "end_turn"), { named: true });
  }
  const parts = calls.map(({ name, args }) => ({ functionCall: { name, args } }));
  return sse([google.chunk(parts.length > 0 ? parts : [{ text }], "STOP")]);
}
