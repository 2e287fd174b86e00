// The Gemini API, as Gemini CLI uses it.
import { CALL, type Dialect, json, newId, type Reply } from "./dialect.js";

interface Part {
  readonly functionCall?: unknown;
}

interface Request {
  readonly tools?: readonly { readonly functionDeclarations?: readonly { readonly name: string }[] }[];
  readonly contents?: readonly { readonly role: string; readonly parts: readonly Part[] }[];
}

export const gemini: Dialect = {
  serves: (path) => /:(?:stream)?generateContent$/i.test(path),
  read(body) {
    const { tools = [], contents = [] } = body as Request;
    return {
      tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name)),
      items: contents.flatMap(({ role, parts }): unknown[] =>
        role === "model" ? parts.filter((part) => part.functionCall !== undefined).map(() => CALL) : [...parts],
      ),
    };
  },
  reply(move, { path }): Reply {
    const part =
      typeof move === "string"
        ? { text: move }
        : // The CLI sends a call back only with a signature.
          { functionCall: { id: newId("call"), name: move.tool, args: move.args }, thoughtSignature: "c2ln" };
    const answer = {
      candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
      modelVersion: "gemini-2.5-pro",
      responseId: newId("response"),
    };
    if (!path.includes(":stream")) return json(answer);
    return { type: "text/event-stream", text: `data: ${JSON.stringify(answer)}\n\n` };
  },
};
