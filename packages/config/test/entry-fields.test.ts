import { expect, it } from "vitest";
import {
  connectionSettings,
  ENTRY_FIELDS,
  type EntryField,
  type EntrySettings,
  entrySettings,
  IMPORTED_FIELDS,
  readEntrySettings,
  remarkOnField,
} from "../src/entry-fields.js";
import { FieldReader } from "../src/field-reader.js";
import type { ConfigScope } from "../src/loaded-config.js";
import { parseConfigText } from "../src/parse-file.js";

const TABLE: Readonly<Record<string, EntryField>> = {
  record: {
    about: "records the calls",
    type: "path",
    setBy: ["user"],
    isApproved: true,
    read: (fields) => fields.string("record")?.text,
  },
};

async function read(entry: object, scope: ConfigScope, table?: Readonly<Record<string, EntryField>>) {
  const parsed = await parseConfigText(JSON.stringify(entry), "mcp.json");
  if (!parsed.ok) throw new Error("the entry must be JSON");
  const at = { line: 1, column: 1 };
  const fields = new FieldReader(parsed.root, { file: "mcp.json", server: "docs", at });
  const settings = readEntrySettings(fields, { file: "mcp.json", scope, dialect: "mcpServers" }, table);
  return { settings, messages: fields.diagnostics.map(({ message }) => message) };
}

it("a field that only the user may set has no effect in a project, with a warning", async () => {
  expect(await read({ record: "/tmp/calls" }, "user", TABLE)).toEqual({
    settings: { record: "/tmp/calls" },
    messages: [],
  });
  expect(await read({ record: "/tmp/calls" }, "project", TABLE)).toEqual({
    settings: {},
    messages: [`Server "docs", field "record": it has an effect only in your own settings, not in a project's.`],
  });
  expect(await read({}, "project", TABLE)).toEqual({ settings: {}, messages: [] });
});

it("settings that differ in a connection's settings are told apart, others are not", async () => {
  const key = async (entry: object) => connectionSettings((await read(entry, "user")).settings);
  const plain = await key({});
  expect(await key({ lazy: true, readOnly: true, idleStop: 5, pin: "off", tools: ["a*"] })).toEqual(plain);
  for (const entry of [{ timeout: 5 }, { callTimeout: 5 }, { maxMessageBytes: 100_000 }, { asks: true }])
    expect(await key(entry)).not.toEqual(plain);
});

it("the settings of an entry are exactly the fields that are read from the table", async () => {
  const { settings } = await read({ share: "client", idleStop: 5, tools: { deny: ["rm"] } }, "user");
  const entry: EntrySettings & { readonly url: string } = { ...settings, url: "https://docs.example/mcp" };
  expect(entrySettings(entry)).toEqual(settings);
  expect(settings).toEqual({
    ...{ disabled: false, lazy: false, connectTimeoutMs: 30_000, callTimeoutMs: 60_000 },
    ...{ share: "client", idleStopMs: 5000, tools: { deny: ["rm"] } },
  });
});

it("imports take over what other programs have words for, and nothing that widens what a server may do", () => {
  expect(IMPORTED_FIELDS).toContain("tools");
  for (const ours of ["readOnly", "pin", "share", "registry"]) expect(IMPORTED_FIELDS).not.toContain(ours);
});

it.each(Object.entries<EntryField>(ENTRY_FIELDS))(
  "the field %s and its aliases are known",
  (name, { aliases = [] }) => {
    for (const known of [name, ...aliases]) expect(remarkOnField(known)).toBeUndefined();
  },
);

it.each([
  ["cmd", "command"],
  ["http_headers", "headers"],
  ["working_directory", "cwd"],
  ["idleStopp", "idleStop"],
])("the field %s gets a hint at %s", (mistake, meant) => {
  expect(remarkOnField(mistake)).toEqual({
    severity: "note",
    message: `it is not a known field. Did you mean "${meant}"?`,
  });
});
