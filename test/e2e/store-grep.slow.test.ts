// `trunkline store grep`, used like grep and ripgrep.
// @with-broker
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GrepPrinter } from "../../packages/cli/src/commands/store/grep-output.js";
import { paletteFor } from "../../packages/cli/src/terminal/palette.js";
import { bin, outcomeOf, Place } from "./command.js";
import { json, store } from "./store-support.js";
import { atTerminal, hasTerminal } from "./terminal.js";

const LINES = 2500;

describe.concurrent("store grep", () => {
  const place = new Place({
    "src/a.txt": "one\ntwo needle\nthree\nfour\nfive\nsix\nNeedle seven\neight\n",
    "src/b.md": "needles here\nand a (literal) needle.\n",
    "log/long.txt": Array.from({ length: LINES }, (_, index) => `entry ${index + 1}\n`).join(""),
  });
  const at = (path: string) => join(place.cwd, path);
  let session = "";
  beforeAll(async () => {
    session = (await json(place, ["start", "--label", "greppers"])).session_id;
    await json(place, [
      "add",
      "src/a.txt",
      "--tag",
      "x",
      "--tag",
      "y",
      "--metadata",
      "kind=note",
      "--session",
      session,
    ]);
    await json(place, ["add", "src/b.md", "--tag", "x"]);
    await json(place, ["add", "log/long.txt", "--collection", "logs", "--label", "then"]);
    place.write("log/long.txt", "entry changed\n");
    place.write("src/blob.bin", "needle\0needle");
    await json(place, ["add", "log/long.txt", "--collection", "logs"]);
    await json(place, ["add", "src/blob.bin"]);
  });
  afterAll(() => place[Symbol.dispose]());
  const grep = async (...args: string[]) => await store(place, ["grep", ...args]);
  const out = async (...args: string[]) => {
    const { code, stdout, stderr } = await grep(...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return stdout.replaceAll(`${place.cwd}/`, "");
  };

  it("prints only the matching parts with -o, in text, JSON and the operation", async () => {
    expect(await out("-o", "[a-z]+eed[a-z]+")).toBe("src/a.txt:2:needle\nsrc/b.md:1:needles\nsrc/b.md:2:needle\n");
    expect(await out("--only-matching", "-N", "e", "src/b.md", "-c")).toBe("src/b.md:9\n");
    const answer = await json(place, ["grep", "-o", "e+d", "src/b.md"]);
    expect(answer.matches.map(({ line, text }: { line: number; text: string }) => [line, text])).toEqual([
      [1, "eed"],
      [2, "eed"],
    ]);
    const { stdout } = await grep("-o", "-i", "--color", "always", "--heading", "NEEDLE", "src/a.txt");
    for (const part of ["mneedle\u001b[", "mNeedle\u001b["]) expect(stdout).toContain(part);
    const asked = await place.run(["query", "grep", "pattern=e+d", "only_matching:=true", 'paths:=["src/b.md"]']);
    expect(JSON.parse(asked.stdout)).toMatchObject({ total: 2, matches: [{ text: "eed" }, { text: "eed" }] });
  });

  it("prints path:line:text in a pipe, with context like grep", async () => {
    expect(await out("needle")).toBe(
      "src/a.txt:2:two needle\nsrc/b.md:1:needles here\nsrc/b.md:2:and a (literal) needle.\n",
    );
    expect(await out("-i", "needle", "src/a.txt", "-C1")).toBe(
      "src/a.txt-1-one\nsrc/a.txt:2:two needle\nsrc/a.txt-3-three\n--\n" +
        "src/a.txt-6-six\nsrc/a.txt:7:Needle seven\nsrc/a.txt-8-eight\n",
    );
    expect(await out("three", "-B1", "-A", "2")).toBe(
      "src/a.txt-2-two needle\nsrc/a.txt:3:three\nsrc/a.txt-4-four\nsrc/a.txt-5-five\n",
    );
  });

  it.each([
    [["-w", "needle"], "src/a.txt:2:two needle\nsrc/b.md:2:and a (literal) needle.\n"],
    [["-F", "(literal)"], "src/b.md:2:and a (literal) needle.\n"],
    [["-v", "e", "src"], "src/a.txt:4:four\nsrc/a.txt:6:six\n"],
    [["-c", "needle"], "src/a.txt:1\nsrc/b.md:2\n"],
    [["-l", "needle"], "src/a.txt\nsrc/b.md\n"],
    [["-l", "-0", "needle"], "src/a.txt\0src/b.md\0"],
    [["-m", "1", "-N", "needle"], "src/a.txt:two needle\nsrc/b.md:needles here\n"],
    [["-rHnE", "needles?", "--include", "*.md", "-m1"], "src/b.md:1:needles here\n"],
    [["needle", "--exclude", "*.md"], "src/a.txt:2:two needle\n"],
    [["needle", "-g", "!*.md"], "src/a.txt:2:two needle\n"],
    [["-S", "needle\\Sseven|needle seven", "-g", "*.txt"], "src/a.txt:7:Needle seven\n"],
    [["-S", "Needle", "-g", "*.txt"], "src/a.txt:7:Needle seven\n"],
    [["-e", "-?two", "a.txt"], "src/a.txt:2:two needle\n"],
    [["needle", "--heading", "-m1"], "src/a.txt\n2:two needle\n\nsrc/b.md\n1:needles here\n"],
    [["needle", "--tag", "y"], "src/a.txt:2:two needle\n"],
    [["-l", "needle", "--tag", "x", "--tag", "y"], "src/a.txt\nsrc/b.md\n"],
    [["-l", "needle", "--tag", "x", "--tag", "y", "--match-all-tags"], "src/a.txt\n"],
    [["-l", "needle", "--metadata", "kind=note"], "src/a.txt\n"],
    [["entry", "--collection", "logs"], "log/long.txt:1:entry changed\n"],
    [["entry 2499", "--snapshot", "then"], "log/long.txt:2499:entry 2499\n"],
    [["-q", "needle"], ""],
  ])("understands %j", async (args, expected) => {
    expect(await out(...args)).toBe(expected);
  });

  it("searches only the documents of a session", async () => {
    expect(await out("-l", "needle", "--session", session)).toBe("src/a.txt\n");
  });

  it.each([
    [["absent"], 1, /^Nothing matches; 1 binary document was skipped\.\n$/],
    [["-q", "absent"], 1, /^$/],
    [["a(b"], 2, /unclosed group/],
    [["needle", "no/such/place"], 2, /no document or folder "no\/such\/place"/],
    [["needle", "--collection", "none"], 2, /no collection "none"\.\n.*Available: default, logs/],
    [["needle", "--session", "none"], 2, /no session "none"/],
    [["needle", "--snapshot", "none"], 2, /no snapshot "none"/],
    [["needle", "--cursor", "none"], 2, /cursor/],
    [["needle", "-m", "many"], 2, /"many" is not a valid value for --max-count/],
    [[], 2, /What do you want to find\?/],
  ])("%j exits with %i and says why", async (args, code, message) => {
    const outcome = await grep(...args);
    expect(outcome).toMatchObject({ code, stdout: "" });
    expect(outcome.stderr).toMatch(message);
  });

  it("returns all matches across pages, as text and as JSON", async () => {
    const all = Array.from({ length: LINES }, (_, index) => `log/long.txt:${index + 1}:entry ${index + 1}\n`);
    expect((await grep("entry", "--snapshot", "then")).stdout).toBe(all.join(""));
    const answer = await json(place, ["grep", "entry", "--snapshot", "then"]);
    expect(answer).toMatchObject({ total: LINES, files: 1, truncated: false });
    expect(answer.cursor).toBeUndefined();
    expect(answer.matches.map(({ line }: { line: number }) => line)).toEqual(all.map((_, index) => index + 1));

    const page = await json(place, ["grep", "entry", "--snapshot", "then", "--page"]);
    expect(page).toMatchObject({ total: LINES, truncated: true });
    const rest = await json(place, ["grep", "entry", "--snapshot", "then", "--cursor", page.cursor]);
    expect(page.matches.length + rest.matches.length).toBe(LINES);
    expect(rest.matches[0].line).toBe(page.matches.at(-1).line + 1);
  });

  it("prints JSON that matches the contract", async () => {
    expect(await json(place, ["grep", "needle", "a.txt", "-n", "-A1"])).toMatchObject({
      matches: [{ path: at("src/a.txt"), line: 2, text: "2:two needle", after: ["3-three"] }],
      total: 1,
      files: 1,
      truncated: false,
    });
    expect(await json(place, ["grep", "needle", "-c"])).toMatchObject({
      total: 3,
      files: [
        { path: at("src/a.txt"), count: 1 },
        { path: at("src/b.md"), count: 2 },
      ],
    });
    expect(await json(place, ["grep", "needle", "-l"])).toMatchObject({ files: [at("src/a.txt"), at("src/b.md")] });
    const none = await store(place, ["grep", "absent", "--json"]);
    expect(none.code).toBe(1);
    expect(JSON.parse(none.stdout)).toMatchObject({ matches: [], total: 0, binary: 1 });
  });

  it("exits quietly when its reader is gone", async () => {
    const child = place.startProcess(["store", "grep", "entry", "--snapshot", "then"]);
    child.stdin?.end();
    child.stdout?.once("data", () => child.stdout?.destroy());
    expect(await outcomeOf(child)).toMatchObject({ code: 0, stderr: "" });
  });

  it("exits with 130 on Ctrl-C while it waits for its reader", async () => {
    // Far more than the buffers between two processes can hold, so it cannot finish before the signal arrives.
    using wide = new Place({ "wide.txt": `entry ${"x".repeat(400)}\n`.repeat(10_000) });
    await json(wide, ["add", "wide.txt"]);
    const child = wide.startProcess(["store", "grep", "entry"]);
    child.stdin?.end();
    let stderr = "";
    child.stderr?.on("data", (text: Buffer) => {
      stderr += text.toString();
    });
    // Wait for the first output but never read it, so the pipe fills up.
    await new Promise((resolve) => child.stdout?.once("readable", resolve));
    child.kill("SIGINT");
    const code = await new Promise((resolve) => child.once("exit", resolve));
    expect({ code, stderr }).toEqual({ code: 130, stderr: "" });
  });

  it.skipIf(!hasTerminal)(`shows paths as headings and uses colours, ${atTerminal}`, () => {
    const command = `'${process.execPath}' '${bin}' store grep -i needle -m1`;
    const { stdout } = spawnSync("script", ["-qec", command, "/dev/null"], {
      cwd: place.cwd,
      env: { PATH: process.env.PATH, HOME: place.home, TERM: "xterm", TRUNKLINE_NO_UPDATE_NOTICE: "1" },
      encoding: "utf8",
    });
    const { accent, dim, match } = paletteFor(process.stdout, {}, "always");
    expect(stdout.replaceAll("\r\n", "\n")).toBe(
      `${accent("src/a.txt")}\n${dim("2")}:two ${match("needle")}\n\n` +
        `${accent("src/b.md")}\n${dim("1")}:${match("needle")}s here\n`,
    );
  });
});

describe("highlighting matches", () => {
  const printed = (pattern: string, text: string, more: object = {}) =>
    new GrepPrinter({
      pattern: { pattern, ...more },
      palette: paletteFor(process.stdout, {}, "always"),
      cwd: "/",
      heading: true,
      numbers: false,
      hasContext: false,
      ending: "\n",
    })
      .page({ matches: [{ path: "p", hash: "h", line: 1, text }], total: 1, files: 1, truncated: false, binary: 0 })
      .split("\n")[1]
      ?.replaceAll("\u001b[1;31m", "<")
      .replaceAll("\u001b[22;39m", ">");

  it("marks every match in a line, and none for inverted matches", () => {
    expect(printed("a+", "banaana")).toBe("b<a>n<aa>n<a>");
    expect(printed("b.", "a.b.", { fixed: true })).toBe("a.<b.>");
    expect(printed("a", "xay a", { word: true })).toBe("xay <a>");
    expect(printed("(?i)A", "ba")).toBe("b<a>");
    expect(printed("z", "ba", { invert: true })).toBe("ba");
  });

  it("leaves a line unmarked if the pattern has no JavaScript equivalent or would take forever", () => {
    expect(printed("[[:alpha:]&&[a-c]]", "abc")).toBe("abc");
    const text = `z${"a".repeat(60)}b`;
    expect(printed("(?:a+)+$|q", text)).toBe(text);
  });
});
