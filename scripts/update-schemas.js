// Generates packages/protocol/src/revisions.generated.ts from the official JSON Schemas of the protocol.
//   npm run update-schemas -- <folder>            <folder>/<revision>/schema.json, as in the specification's repository
//   npm run update-schemas -- <folder> --check    writes nothing; exit code 1 if the table is out of date
//   … --out <file>                                write to another file
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const TARGET = join(root, "packages", "protocol", "src", "revisions.generated.ts");
const USAGE = "Usage: npm run update-schemas -- <folder> [--check] [--out <file>]";

class SchemaError extends Error {}

/** @typedef {Record<string, any>} Schema JSON Schema, not validated. */

/**
 * Extracts the methods and definitions of one revision.
 * @param {Schema} schema
 */
function factsOf(schema) {
  const definitions = schema.$defs ?? schema.definitions;
  if (typeof definitions !== "object" || definitions === null) {
    throw new SchemaError("it has neither $defs nor definitions");
  }
  /** @param {string} name */
  const methodsOf = (name) => [...new Set(collect(definitions, definitions[name], name))].sort();
  for (const name of ["ClientRequest", "ClientNotification", "ServerNotification"]) {
    if (definitions[name] === undefined) throw new SchemaError(`it has no ${name}`);
  }
  // Since 2026-07-28, servers send no requests: they ask with an InputRequest inside a result.
  if (definitions.ServerRequest === undefined && definitions.InputRequest === undefined) {
    throw new SchemaError("it has neither ServerRequest nor InputRequest");
  }
  const facts = {
    definitions: Object.keys(definitions).length,
    requests: {
      "client-to-server": methodsOf("ClientRequest"),
      "server-to-client": definitions.ServerRequest === undefined ? [] : methodsOf("ServerRequest"),
    },
    notifications: {
      "client-to-server": methodsOf("ClientNotification"),
      "server-to-client": methodsOf("ServerNotification"),
    },
    inputRequests: definitions.InputRequest === undefined ? [] : methodsOf("InputRequest"),
  };
  // If a schema renames its unions, methods must not be lost silently.
  const listed = new Set([
    ...Object.values(facts.requests).flat(),
    ...Object.values(facts.notifications).flat(),
    ...facts.inputRequests,
  ]);
  for (const [name, definition] of Object.entries(definitions)) {
    const method = definition?.properties?.method?.const;
    if (typeof method === "string" && !listed.has(method)) {
      throw new SchemaError(`${name} defines ${method}, which nobody sends`);
    }
  }
  return facts;
}

/**
 * Collects the methods of a request or notification, or of all members of a union. A union with one member is written
 * as that member.
 * @param {Schema} definitions
 * @param {Schema | undefined} node
 * @param {string} name
 * @returns {string[]}
 */
function collect(definitions, node, name) {
  if (node === undefined) throw new SchemaError(`${name} is not defined`);
  if (typeof node.$ref === "string") {
    const target = node.$ref.replace(/^#\/(\$defs|definitions)\//, "");
    return collect(definitions, definitions[target], target);
  }
  const members = node.anyOf ?? node.oneOf;
  if (Array.isArray(members)) return members.flatMap((member) => collect(definitions, member, name));
  const method = node.properties?.method;
  if (typeof method?.const === "string") return [method.const];
  throw new SchemaError(`${name} has no method`);
}

/** @param {string} folder */
function readRevisions(folder) {
  if (!existsSync(folder)) throw new SchemaError(`there is no folder ${folder}`);
  const revisions = readdirSync(folder)
    .filter((name) => /^\d{4}-\d{2}-\d{2}$/.test(name) && existsSync(join(folder, name, "schema.json")))
    .sort();
  if (revisions.length === 0) throw new SchemaError(`${folder} has no <revision>/schema.json`);
  return Object.fromEntries(
    revisions.map((revision) => {
      const file = join(folder, revision, "schema.json");
      try {
        return [revision, factsOf(JSON.parse(readFileSync(file, "utf8")))];
      } catch (error) {
        if (error instanceof SchemaError || error instanceof SyntaxError) {
          throw new SchemaError(`${file}: ${error.message}`);
        }
        throw error;
      }
    }),
  );
}

/**
 * Renders the table as formatted source code.
 * @param {ReturnType<typeof readRevisions>} revisions
 */
function sourceOf(revisions) {
  const source = `// Generated from the official JSON Schemas of the protocol. Do not edit: run \`npm run update-schemas -- <folder>\`.

/** What each revision defines: methods and notifications by direction, and the number of definitions. */
export const REVISIONS = ${JSON.stringify(revisions, null, 2)} as const;
`;
  const biome = createRequire(import.meta.url).resolve("@biomejs/biome/bin/biome");
  const formatted = spawnSync(process.execPath, [biome, "format", `--stdin-file-path=${TARGET}`], {
    cwd: root,
    input: source,
    encoding: "utf8",
  });
  if (formatted.status !== 0) throw new Error(`biome cannot format the table: ${formatted.stderr}`);
  return formatted.stdout;
}

/** @param {string[]} argv */
function main(argv) {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: { check: { type: "boolean" }, out: { type: "string" } },
  });
  const [folder, ...more] = positionals;
  if (folder === undefined || more.length > 0) {
    console.error(USAGE);
    return 2;
  }
  const target = values.out ?? TARGET;
  const source = sourceOf(readRevisions(folder));
  const current = existsSync(target) ? readFileSync(target, "utf8") : undefined;
  if (current === source) {
    console.log(`${target} is up to date.`);
    return 0;
  }
  if (values.check) {
    console.error(`${target} is out of date. Run \`npm run update-schemas -- <folder>\`.`);
    return 1;
  }
  writeFileSync(target, source);
  console.log(`${target} written.`);
  return 0;
}

try {
  process.exitCode = main(process.argv.slice(2));
} catch (error) {
  if (error instanceof SchemaError) console.error(`Not updated: ${error.message}.`);
  else if (isUsageError(error)) console.error(`${error.message}\n${USAGE}`);
  else throw error;
  process.exitCode = 2;
}

/**
 * Whether this is the error parseArgs throws for an unknown option.
 * @param {unknown} error
 * @returns {error is NodeJS.ErrnoException}
 */
function isUsageError(error) {
  return error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
}
