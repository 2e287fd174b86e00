// `trunkline call` of tools that return images, audio and other binaries.
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { Place } from "./command.js";
import { runAtScreen } from "./screen.js";

const IMAGE = Buffer.from([137, 80, 78, 71, ...Array.from({ length: 4000 }, (_, index) => index % 256)]);
const AUDIO = Buffer.from("RIFF-and-a-sound");

/** A server whose tools return the blocks of the same name. */
const SERVER = `
const image = { type: "image", data: "${IMAGE.toString("base64")}", mimeType: "image/png" };
const audio = { type: "audio", data: "${AUDIO.toString("base64")}", mimeType: "audio/wav" };
const text = { type: "text", text: "Here it is:" };
const blob = { type: "resource", resource: { uri: "x://y", mimeType: "application/zip", blob: "UEs=" } };
const inline = { type: "resource", resource: { uri: "x://z", mimeType: "text/plain", text: "inline text" } };
const tools = {
  image: [text, image], audio: [audio], both: [image, audio], blob: [blob, inline], text: [text], broken: [{ ...image, data: "*" }],
  hostile: [{ ...image, mimeType: "image/\\u001b[2Jpng\\nfake" }, { type: "text", text: "\\u001b]0;owned\\u0007" }],
};
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const results = {
    initialize: () => ({ protocolVersion: "2025-11-25", serverInfo: { name: "x", version: "1" }, capabilities: { tools: {} } }),
    "tools/list": () => ({ tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: "object" } })) }),
    "tools/call": () => ({ content: tools[params.name] }),
  };
  if (results[method]) send({ id, result: results[method]() });
  else send({ id, error: { code: -32601, message: "no" } });
}).on("close", () => process.exit());
`;

describe("call of a tool that returns binaries", () => {
  const place = new Place({ "server.cjs": SERVER });
  place.write("mcp.json", {
    mcpServers: { x: { command: process.execPath, args: [join(place.cwd, "server.cjs")], pin: "off" } },
  });
  afterAll(() => place[Symbol.dispose]());
  const call = async (tool: string, ...args: string[]) =>
    await place.run(["call", `x.${tool}`, "--mcp", "mcp.json", ...args]);
  const file = (name: string) => readFileSync(join(place.cwd, name));

  it("prints their type and size", async () => {
    expect(await call("image")).toEqual({ code: 0, stdout: "Here it is:\nimage/png, 4 kB\n", stderr: "" });
    expect(await call("audio")).toEqual({ code: 0, stdout: "audio/wav, 16 B\n", stderr: "" });
    expect(await call("blob")).toEqual({ code: 0, stdout: "application/zip, 2 B\ninline text\n", stderr: "" });
  });

  it("says at a terminal how to save them", async () => {
    const { stderr } = await runAtScreen(place, ["call", "x.image", "--mcp", "mcp.json"]);
    expect(stderr).toContain("Save it with --output <file>.");
    const { stderr: nothing } = await runAtScreen(place, ["call", "x.text", "--mcp", "mcp.json"]);
    expect(nothing).not.toContain("--output");
  });

  it("saves them with --output, byte for byte", async () => {
    const { code, stdout, stderr } = await call("image", "--output", "a.png");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Here it is:\nimage/png, 4 kB\n" });
    expect(stderr).toBe("wrote a.png (4.0 kB)\n");
    expect(file("a.png")).toEqual(IMAGE);
    await call("audio", "-o", "a.png");
    expect(file("a.png")).toEqual(AUDIO);
  });

  it("numbers several of them", async () => {
    mkdirSync(join(place.cwd, "out"));
    expect((await call("both", "--output", "out/it.bin")).stderr).toBe(
      "wrote out/it.bin (4.0 kB)\nwrote out/it-2.bin (16 B)\n",
    );
    expect([file("out/it.bin"), file("out/it-2.bin")]).toEqual([IMAGE, AUDIO]);
  });

  it("saves the text of a result that has no binary", async () => {
    expect(await call("text", "--output", "a.txt")).toEqual({ code: 0, stdout: "", stderr: "wrote a.txt (12 B)\n" });
    expect(file("a.txt").toString()).toBe("Here it is:\n");
  });

  it("writes to stdout with --output -, but not to a terminal", async () => {
    expect((await call("audio", "--output", "-")).stdout).toBe(AUDIO.toString());
    const { code, stdout, stderr } = await runAtScreen(place, [
      "call",
      "x.audio",
      "--mcp",
      "mcp.json",
      "--output",
      "-",
    ]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("would garble the terminal");
  });

  it.each([
    ["nowhere/a.png", "There is no folder nowhere."],
    [".", ". is a folder."],
  ])("rejects --output %s before the call", async (output, message) => {
    const { code, stdout, stderr } = await call("image", "--output", output);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });

  it("says in plain words why a file could not be written", async () => {
    symlinkSync("nowhere/a.png", join(place.cwd, "dangling.png"));
    const { code, stderr } = await call("image", "--output", "dangling.png");
    expect(code).toBe(1);
    expect(stderr).toContain("The call succeeded, but dangling.png could not be written: it does not exist.\n");
  });

  it.skipIf(process.getuid?.() === 0)("rejects a folder that cannot be written to before the call", async () => {
    mkdirSync(join(place.cwd, "closed"), { mode: 0o500 });
    const { code, stdout, stderr } = await call("image", "--output", "closed/a.png");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("Cannot write to closed: permission denied.");
  });

  it("prints the whole result as JSON on request, and saves it too", async () => {
    const { stdout } = await call("image", "--raw", "--output", "b.png");
    expect(JSON.parse(stdout).content[1].data).toBe(IMAGE.toString("base64"));
    expect(file("b.png")).toEqual(IMAGE);
  });

  it("shows data that is not base64 as it is", async () => {
    expect((await call("broken")).stdout).toBe('{"type":"image","data":"*","mimeType":"image/png"}\n');
  });

  it("lets no escape code of a tool reach the terminal", async () => {
    const { stdout } = await runAtScreen(place, ["call", "x.hostile", "--mcp", "mcp.json"]);
    expect(stdout).toBe("image/\\u001b[2Jpng\\u000afake, 4 kB\n\\u001b]0;owned\\u0007\n");
  });
});
