// Expressions that were rewritten so that hostile text cannot keep them busy still accept the same texts. Each is
// compared with the expression that it replaces, on short random texts.
import { describe, expect, it } from "vitest";
import { packageProblem } from "../../packages/cli/src/registry/package-rules.js";
import type { RegistryPackage } from "../../packages/cli/src/registry/registry-server.js";
import { asksForSecret, withoutTitles } from "../../packages/client/src/channel/secret-words.js";
import { hiddenIn } from "../../packages/client/src/pins/hidden-text.js";
import { plainLetters, skeletonOf } from "../../packages/client/src/pins/plain-letters.js";
import { parseEnvFile } from "../../packages/config/src/dot-env.js";
import { expandText } from "../../packages/config/src/expand.js";
import { parseYaml } from "../../packages/config/src/parse-yaml.js";
import { memberOf, textOf } from "../../packages/config/src/tree.js";
import { normalized, parsePath } from "../../packages/core/src/index.js";
import { type Random, seededRandom } from "../support/seed.js";

const ROUNDS = 20_000;

function randomText(random: Random, parts: readonly string[], most = 12): string {
  return Array.from({ length: random.below(most + 1) }, () => random.pick(parts)).join("");
}

/** The names of the variables in a text, found by looking for the closing brace of each. */
function variablesBefore(text: string): string[] {
  const closingBrace = (from: number) => {
    let depth = 1;
    for (let at = from; at < text.length; at++) {
      if (text[at] === "{") depth++;
      else if (text[at] === "}" && --depth === 0) return at;
    }
    return text.indexOf("}", from);
  };
  const names: string[] = [];
  let done = 0;
  for (let start = text.indexOf("${"); start !== -1; start = text.indexOf("${", Math.max(done, start + 2))) {
    const end = closingBrace(start + 2);
    if (end === -1) continue;
    const [name = ""] = text.slice(start + 2, end).split(":-");
    const isEscaped = start > done && text[start - 1] === "\\";
    if (name !== "" && !isEscaped) names.push(name);
    done = end + 1;
  }
  return names;
}

describe("an expression that was rewritten", () => {
  it("accepts the same Python versions", () => {
    const before = /^(?:\d+!)?\d+(?:\.\d+)*(?:[._-]?[a-z]+[._-]?\d*)*(?:\+[a-z0-9.]+)?$/i;
    const random = seededRandom();
    for (let round = 0; round < ROUNDS; round++) {
      const version = randomText(random, ["1", "20", ".", "-", "_", "a", "rc", "!", "+", "Z"]);
      const item = {
        ...{ type: "pypi", identifier: "notes", version, transport: "stdio" },
        ...{ runtimeArguments: [], packageArguments: [], environment: [] },
      };
      const problem = packageProblem(item as unknown as RegistryPackage); // Only what the rules read.
      expect([version, problem === undefined]).toEqual([version, before.test(version)]);
    }
  });

  it("finds the same titles in a question", () => {
    const before = (text: string) =>
      text.replace(/(["'`“‘«])(?:[^"'`”’»\s]+\s+){2,}[^"'`”’»]*["'`”’»]/gu, (quoted) =>
        /\byour\b/i.test(quoted) ? quoted : "…",
      );
    const random = seededRandom();
    for (let round = 0; round < ROUNDS; round++) {
      const text = randomText(random, ["'", '"', "“", "”", "«", "»", " ", " ", "\n", "a", "b", "your"], 16);
      expect([text, withoutTitles(text)]).toEqual([text, before(text)]);
    }
  });

  it("makes the same letters Latin", () => {
    const mixed = /[\p{L}\p{N}_'’-]*[a-z][\p{L}\p{N}_'’-]*/gu;
    const random = seededRandom();
    for (let round = 0; round < ROUNDS; round++) {
      const text = randomText(random, ["а", "о", "р", "a", "k", "1", "_", "’", "-", " ", "."]);
      const before = text.replace(mixed, skeletonOf).replaceAll("’", "'").replace(/\s+/g, " ");
      expect([text, plainLetters(text)]).toEqual([text, before]);
    }
  });

  it("reads the same slices in a path", () => {
    const before = /^\[\s*(-?\d{1,15})?\s*:\s*(-?\d{1,15})?\s*\]$/;
    const numberOf = (text: string | undefined) => (text === undefined ? undefined : Number(text));
    const random = seededRandom();
    for (let round = 0; round < ROUNDS; round++) {
      const text = `[${randomText(random, [" ", "\n", "1", "-2", "-", ":", ":"], 7)}]`;
      const match = before.exec(text);
      const path = parsePath(text);
      const slice = path?.[0]?.kind === "slice" ? path[0] : undefined;
      const old = match === null ? undefined : { kind: "slice", start: numberOf(match[1]), end: numberOf(match[2]) };
      expect([text, slice]).toEqual([text, old]);
    }
  });

  it("removes the same comments from values in .env files", () => {
    const random = seededRandom();
    for (let round = 0; round < ROUNDS; round++) {
      const value = randomText(random, ["#", "#", " ", "\t", "\u00a0", "a", "b", "="]);
      expect([value, parseEnvFile(`A=${value}`).A]).toEqual([value, value.trim().replace(/(?:^|\s+)#.*$/, "")]);
    }
  });

  it("reads the same quoted values in .env files", () => {
    const random = seededRandom();
    for (let round = 0; round < ROUNDS; round++) {
      const value = `"${randomText(random, ['"', "\\", "\\n", "a", "#", " "])}"`.trim();
      const before = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/.exec(value);
      const unescaped = before?.[1]?.replace(/\\(.)/g, (whole, char: string) =>
        char === "n" ? "\n" : /["\\]/.test(char) ? char : whole,
      );
      expect([value, parseEnvFile(`A=${value}`).A]).toEqual([value, unescaped ?? value.replace(/(?:^|\s+)#.*$/, "")]);
    }
  });

  it("finds the same variables in a value", () => {
    const random = seededRandom();
    const scope = {
      dialect: "mcpServers",
      env: (name: string) => `<${name}>`,
      workspaceFolder: "",
      userHome: "",
    } as const;
    for (let round = 0; round < ROUNDS; round++) {
      const text = randomText(random, ["${", "${", "{", "}", "A", ":-", "$", "\\"]);
      const names = expandText(text, scope).values.map(({ name }) => name);
      expect([text, names]).toEqual([text, variablesBefore(text)]);
    }
  });

  it("finds the same comments in a definition", () => {
    const random = seededRandom();
    for (let round = 0; round < ROUNDS; round++) {
      const text = randomText(random, ["<!--", "-->", "<!-", "->", "nine more"], 8);
      expect([text, hiddenIn(text).includes("a comment")]).toEqual([text, /<!--[\s\S]{20,}?-->/.test(text)]);
    }
  });

  it("normalizes text with up to 30 marks on a letter as before", () => {
    const random = seededRandom();
    for (let round = 0; round < ROUNDS; round++) {
      const text = randomText(random, ["a", "が", "ﾊ", "\uff9e", "\u0301", "\u0323", "\u0e38"], 30);
      for (const form of ["NFC", "NFD", "NFKC", "NFKD"] as const)
        expect(normalized(text, form)).toBe(text.normalize(form));
    }
    expect(normalized(`a${"\u0301".repeat(100)}b`, "NFD")).toBe(`a${"\u0301".repeat(30)}b`);
  });
});

describe("a question", () => {
  it.each([
    ["Enter your", true],
    ["Do not enter your", false],
    ["What is the max", false],
    ["Names for the", false],
    ["Choose a colour for the", false],
  ])("is judged by the words before the secret, however much is before those: %s", (words, expected) => {
    for (const before of ["", "We tidy up. ", "We tidy up the list of files here. ".repeat(50)]) {
      expect(asksForSecret(`${before}${words} token and press the button to go on with it.`)).toBe(expected);
    }
  });
});

describe("an alias in YAML", () => {
  const valueIn = (text: string, key: string) => {
    const outcome = parseYaml(text);
    return outcome.ok ? textOf(memberOf(outcome.root, key)) : outcome.reason;
  };

  it("stands for the last value before it with its anchor, even if an alias leads to an earlier one", () => {
    expect(valueIn("a: &x 1\nb: *x\n", "b")).toBe("1");
    expect(valueIn("a: &x 1\nb: &x 2\nc: *x\n", "c")).toBe("2");
    expect(valueIn("a: &y [&x 1]\nb: &x 2\nc: *y\nd: *x\n", "d")).toBe("2");
    expect(valueIn("a: *x\nb: &x 1\n", "a")).toBe("its aliases cannot be resolved");
    expect(valueIn("a: &x [*x]\n", "a")).toBe("its aliases cannot be resolved");
  });
});
