// Clients of several principals in front of one service, and a result that one of them has stored.
import { callTool, type TestService, testCaller, testExchange } from "../../packages/gateway/test/service/support.js";

export type Raw = Readonly<Record<string, unknown>>;

export const SECRET = "alice-private-figure-4711";

/** A client of this principal. All of them claim the same name. */
export function clientOf(under: TestService, principal: string) {
  const caller = testCaller({ principal, endpoint: "http", name: "same 1" });
  const call = async (tool: string, args: Raw) => {
    const result = await callTool(under, tool, args, { caller });
    return { isError: result.isError === true, text: JSON.stringify(result), value: result.structuredContent as Raw };
  };
  return {
    caller,
    call,
    query: (op: string, params: Raw = {}) => call("query", { steps: [{ op, params }] }),
    execute: (op: string, params: Raw = {}, more: Raw = {}) =>
      call("execute", { operations: [{ op, params }], ...more }),
    session: (action: string, params: Raw = {}) => call("session", { action, params }),
    read: (uri: string) =>
      under.service.handle("resources/read", { uri }, testExchange({ caller })).then(
        (found) => JSON.stringify(found),
        (error: Error) => error.message,
      ),
  };
}

/** Stores a result that is too large for its answer, as `alice` does every day. Returns its hash and name. */
export async function spill(
  under: TestService,
  principal: string,
): Promise<{ hash: string; name: string; content: string }> {
  const client = clientOf(under, principal);
  const lines = Array.from({ length: 400 }, (_, line) => `${SECRET} in line ${line} of export.md`);
  const content = ["# quarterlyFigures", ...lines, `owner ${principal}`].join("\n");
  await client.execute("add", { content, name: `${principal}/export.md`, collection: "results" });
  const listed = (await client.query("list", { collection: "results" })).value;
  const [document] = (listed as { documents: { path: string; hash: string }[] }).documents;
  return { hash: String(document?.hash), name: String(document?.path), content };
}
