// Help for `query` and `execute`, generated from the operations.
import { isRecord, printable } from "@trunkline/core";
import type { Operation } from "@trunkline/gateway";
import { commandLine } from "../../terminal/command-line.js";
import { table } from "../../terminal/table.js";
import type { ToolName } from "./run.js";

/** Prints the usage and all of our operations. */
export function* describeTool(operations: readonly Operation[], tool: ToolName): Generator<string> {
  const list = tool === "query" ? "steps" : "operations";
  yield `Usage: trunkline ${tool} <operation> [key=value | key:=json …]`;
  yield `       trunkline ${tool} '{"${list}": [{"op": …, "params": {…}}, …]}' | <file.json> | -`;
  yield "";
  yield tool === "query"
    ? "Runs read operations one after another; later ones can refer to earlier ones ($prev.results[0].hash)."
    : "Runs operations one after another, and stops at the first error.";
  yield "";
  yield "Operations:";
  const own = operations.filter(({ kind }) => kind === (tool === "query" ? "read" : "write"));
  const tools = tool === "query" ? "read-only tools of servers" : "any tool of any server";
  yield* table([
    ...own.map(({ name, summary }) => [`  ${name}`, summary]),
    ["  <server>.<tool>", `${tools}; \`trunkline tools\` lists them`],
  ]);
  yield "";
  yield "Options:";
  yield* table([
    ["  --max-tokens <number>", "truncate the answer as for an agent; default: never"],
    ["  --store <path>", "the store's folder"],
    ["  --mcp <path>", "use only this configuration file"],
    ["  -h, --help", `with an operation before it: its parameters (trunkline ${tool} ${own[0]?.name ?? ""} --help)`],
  ]);
  yield "";
  yield "The answer is JSON, even if it is an error. Exit codes: 0 success, 1 an operation failed, 2 wrong usage or configuration, 130 interrupted.";
}

export function* describeOperation(operation: Operation, tool: ToolName): Generator<string> {
  const { name, summary, schema, example } = operation;
  yield `Usage: trunkline ${tool} ${name} [key=value | key:=json …]`;
  yield "";
  yield printable(summary);
  const properties = isRecord(schema.properties) ? Object.entries(schema.properties) : [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  if (properties.length > 0) {
    yield "";
    yield "Parameters:";
    yield* table(
      properties.map(([key, property]) => {
        const facts = isRecord(property) ? property : {};
        const mark = required.includes(key) ? " (required)" : "";
        const fallback = facts.default === undefined ? "" : ` Default: ${JSON.stringify(facts.default)}.`;
        const [first = ""] = String(facts.description ?? "").split("\n");
        return [`  ${printable(key)}`, typeOf(facts), `${printable(first)}${fallback}${mark}`.trim()];
      }),
    );
  }
  if (example === undefined) return;
  yield "";
  yield `Example: trunkline ${tool} ${name} ${Object.entries(example).map(pairOf).join(" ")}`.trimEnd();
}

function pairOf([key, value]: [string, unknown]): string {
  const isText = typeof value === "string";
  const written = isText ? value : JSON.stringify(value);
  const word = `${key}${isText ? "=" : ":="}${written}`;
  return commandLine([word]) === word && !/[$*?&#<>]/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function typeOf(property: Readonly<Record<string, unknown>>): string {
  if (Array.isArray(property.enum)) return property.enum.join("|");
  if (property.type === "array") {
    const items = isRecord(property.items) ? typeOf(property.items) : "";
    return items === "" ? "list" : `list of ${items}`;
  }
  if (property.type !== undefined) return [property.type].flat().join("|");
  const options = Array.isArray(property.anyOf) ? property.anyOf.filter(isRecord).map(typeOf) : [];
  return [...new Set(options)].join("|");
}
