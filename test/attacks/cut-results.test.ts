// A large result that is cut, whatever it contains, never costs the answer of the batch it belongs to.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callTool, stdio, type TestService, testService } from "../../packages/gateway/test/service/support.js";
import { type Random, seededRandom } from "../support/seed.js";

type Raw = Readonly<Record<string, unknown>>;

const OVER_LARGE = 1_100_000;
const SLOW = { connectTimeoutMs: 120_000, callTimeoutMs: 240_000 };

/** Pieces of JSON texts. None is a reference of a pipeline. */
const PIECES = [
  "The quick brown fox. ",
  "é€😀",
  "\\u00e9",
  "\\ud83d\\ude00",
  '\\"',
  "\\\\",
  "\\n",
  "\\/",
  "\\u0000\\u001f",
  '{\\"a\\":[1,\\"\\\\u00e9\\"]}',
  "\\\\ud83d",
];

function randomText(random: Random, bytes: number): string {
  const few = Array.from({ length: 1 + random.below(5) }, () => random.pick(PIECES));
  const some = Array.from({ length: 200 }, () => random.pick(few)).join("");
  return `"${some.repeat(Math.ceil(bytes / some.length))}"`;
}

const SHAPES: readonly ((random: Random) => { as: "text" | "structured"; json: string })[] = [
  (random) => ({ as: "text", json: randomText(random, OVER_LARGE) }),
  (random) => ({ as: "structured", json: `{"text":${randomText(random, OVER_LARGE)}}` }),
  (random) => {
    const rows = Array.from({ length: 600 }, (_, id) => `{"id":${id},"body":${randomText(random, 2_000)}}`);
    return { as: "structured", json: `{"rows":[${rows.join(",")}],"note":${randomText(random, 500)}}` };
  },
  (random) => {
    const fields = Array.from(
      { length: 40 },
      (_, at) => `"f${at}":${randomText(random, random.below(60_000) + 2_000)}`,
    );
    return { as: "structured", json: `{${fields.join(",")},"last":${randomText(random, OVER_LARGE / 4)}}` };
  },
  (random) => {
    const numbers = Array.from({ length: 150_000 }, () => (random.next() * 1e6).toString());
    return { as: "structured", json: `{"numbers":[${numbers.join(",")}],"text":${randomText(random, 200_000)}}` };
  },
  (random) => ({ as: "text", json: JSON.stringify(`{"inner":${randomText(random, OVER_LARGE)}}`) }),
];

let set: TestService;
beforeAll(() => {
  set = testService([stdio("hostile", [], SLOW)]);
});
afterAll(() => set[Symbol.asyncDispose]());

/** Calls a tool and returns its answer, which has to be the same in its text and in its structured content. */
async function answerOf(name: string, args: Raw): Promise<Raw> {
  const { content, structuredContent } = await callTool(set, name, args);
  const [first] = content as { text: string }[];
  expect(JSON.parse(first?.text ?? "")).toEqual(structuredContent);
  expect(first?.text).not.toMatch(/nothing of it|cannot be read/);
  return structuredContent as Raw;
}

describe("a result of more than a megabyte", () => {
  it.each(SHAPES.map((shape, index) => [index, shape] as const))(
    "is cut to any budget within the envelope of its call (shape %i)",
    async (_, shape) => {
      const random = seededRandom();
      const params = shape(random);
      expect(params.json.length).toBeGreaterThan(1024 * 1024);
      for (const most of [300, 1_000, 3_000, 8_000]) {
        const max_tokens = 200 + random.below(most - 200 + 1);
        const what = `max_tokens ${max_tokens}`;
        const one = await answerOf("query", { steps: [{ op: "hostile.raw", params }], max_tokens });
        expect(one, what).toMatchObject({ truncated: true, size: expect.any(Number), hash: expect.any(String) });
        const batch = [
          { op: "hostile.echo", params: { text: "before" } },
          { op: "hostile.raw", params },
        ];
        const all = await answerOf("execute", { operations: batch, max_tokens });
        expect(all, what).toMatchObject({ totalOps: 2, succeeded: 2, failed: 0 });
        const piped = await answerOf("query", { steps: batch, max_tokens });
        expect(piped, what).toMatchObject({ totalSteps: 2, completedSteps: 2 });
      }
    },
  );

  it("of an embedded text is cut between characters", async () => {
    const text = `a${"😀".repeat(400_000)}`;
    const json = JSON.stringify({ content: [{ type: "resource", resource: { uri: "test://text", text } }] });
    const steps = [{ op: "hostile.raw", params: { as: "result", json } }];
    const { content } = await callTool(set, "query", { steps, max_tokens: 200_000 });
    const [, block] = content as { resource: { text: string } }[];
    expect(block?.resource.text.length).toBeGreaterThan(10_000);
    expect(text.startsWith(block?.resource.text ?? "-")).toBe(true);
    expect(block?.resource.text).toMatch(/[\udc00-\udfff]$/);
  });
});
