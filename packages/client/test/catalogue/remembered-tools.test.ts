// The tools that servers listed last, in memory and in files.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerDefinition } from "@trunkline/config";
import { type SourcedTool, silentLogger } from "@trunkline/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RememberedTools, readRememberedTools } from "../../src/catalogue/remembered-tools.js";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "trunkline-remembered-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function configured(name: string, command = "serve-docs") {
  const config = { name, type: "stdio", command, args: [], env: {} } as unknown as ServerDefinition;
  return { name, config };
}

function tool(server: string, name: string, description = "Looks it up."): SourcedTool {
  const inputSchema = { type: "object", properties: { word: { type: "string" } } };
  return { server, tool: name, name: `${server}.${name}`, inputSchema, description, raw: { name, extra: 1 } };
}

const remembering = () => new RememberedTools({ folder, logger: silentLogger });

async function saveOne(server = configured("docs")): Promise<string> {
  const writer = remembering();
  writer.keep(server, [tool(server.name, "lookup")]);
  await writer.saved();
  return join(folder, readdirSync(folder)[0] ?? "");
}

describe("remembered tools", () => {
  it("are loaded by the next run for the same definition only", async () => {
    await saveOne();
    const next = remembering();
    expect(await next.load([configured("docs"), configured("other")])).toBe(true);
    expect(next.of(configured("docs"))?.tools.map(({ name }) => name)).toEqual(["docs.lookup"]);
    expect(next.of(configured("docs", "another-program"))).toBeUndefined();
    expect(next.of(configured("other"))).toBeUndefined();
    const changed = remembering();
    expect(await changed.load([configured("docs", "another-program")])).toBe(false);
  });

  it("are in a file that only the user can read, without unknown fields", async () => {
    const path = await saveOne();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, "utf8")).not.toContain("extra");
  });

  it("are news only once, until another process saves others", async () => {
    await saveOne();
    const reader = remembering();
    expect(await reader.load([configured("docs")])).toBe(true);
    expect(await reader.load([configured("docs")])).toBe(false);
    const writer = remembering();
    writer.keep(configured("docs"), [tool("docs", "lookup"), tool("docs", "define")]);
    await writer.saved();
    expect(await reader.load([configured("docs")])).toBe(true);
    expect(reader.of(configured("docs"))?.tools).toHaveLength(2);
  });

  it.each([
    ["no JSON", "{"],
    ["another format", '{"format":2,"server":"docs","key":"k","tools":[]}'],
    ["no list", '{"format":1,"server":"docs","key":"k","tools":{}}'],
    ["no server", '{"format":1,"key":"k","tools":[]}'],
  ])("are unknown if their file has %s", async (_, text) => {
    const path = await saveOne();
    writeFileSync(path, text);
    const reader = remembering();
    expect(await reader.load([configured("docs")])).toBe(false);
    expect(reader.of(configured("docs"))).toBeUndefined();
    expect(await readRememberedTools(folder)).toEqual(new Map());
  });

  it("leave out damaged tools, and belong to the server of their file", async () => {
    const path = await saveOne();
    const file = JSON.parse(readFileSync(path, "utf8"));
    const stolen = { server: "bank", tool: "pay", name: "bank.pay", inputSchema: {} };
    writeFileSync(path, JSON.stringify({ ...file, tools: [...file.tools, null, { tool: 3 }, { tool: "x" }, stolen] }));
    const names = (await readRememberedTools(folder)).get("docs")?.map(({ name }) => name);
    expect(names).toEqual(["docs.lookup", "docs.pay"]);
  });

  it("are measured once, also those of an earlier run", async () => {
    await saveOne();
    const reader = remembering();
    await reader.load([configured("docs")]);
    const measured: string[] = [];
    reader.measureWith(async (server, tools) => {
      measured.push(server);
      return { lean: tools.map(() => 7), name: 1, topics: [["words", 2]] };
    });
    await reader.saved();
    expect(measured).toEqual(["docs"]);
    const next = remembering();
    await next.load([configured("docs")]);
    expect(next.of(configured("docs"))?.measure).toMatchObject({ lean: [7], topics: [["words", 2]] });
  });

  it("are empty for a folder that does not exist", async () => {
    expect(await readRememberedTools(join(folder, "none"))).toEqual(new Map());
  });
});
