// Reads a changelog through a server and has a model summarise each part in one sentence:
//   npx trunkline --mcp examples/digest-a-changelog/mcp.jsonc run examples/digest-a-changelog/main.ts CHANGELOG.md
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { args, hub, model } from "trunkline";

const [file = "CHANGELOG.md"] = args;
const { text, isError } = await hub.call("files.read_text_file", { path: resolve(file) });
assert.equal(isError, false, text);

/** Groups the entries of the newest version by the part they begin with: "- `client`: …". */
function entriesByPart(changelog: string): Map<string, string[]> {
  const [, newest = ""] = changelog.split(/^## /m);
  const parts = new Map<string, string[]>();
  for (const [, part = "", entry = ""] of newest.matchAll(/^- `(\w+)`: ([\s\S]*?)(?=^- |^#|\n\n|$(?![\s\S]))/gm)) {
    parts.set(part, [...(parts.get(part) ?? []), entry.replace(/\s+/g, " ").trim()]);
  }
  return parts;
}

// Falls back to `echo`, which repeats the prompt, if you have not configured a model.
const isSetUp = process.env.TRUNKLINE_PROVIDER !== undefined;
const sentence = (part: string, entries: readonly string[]): Promise<string> =>
  model.ask(
    `One sentence on what is new in ${part}:\n${entries.join("\n")}`,
    isSetUp ? {} : { model: { provider: "echo" } },
  );

const parts = entriesByPart(text);
const digest = await Promise.all(
  [...parts].map(async ([part, entries]) => ({ part, text: await sentence(part, entries) })),
);
for (const entry of digest) console.log(`${entry.part}: ${entry.text.split("\n")[0]}`);

assert.ok(parts.has("client"), "the changelog has entries for the client");
assert.ok(digest.every((entry) => entry.text.length > 0));
console.log("done");
