// Compiles TypeScript to JavaScript. Types become blanks, so every line and column stays the same. Syntax with a
// runtime meaning (enums, namespaces, parameter properties) is transformed, with a source map.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { isRecord } from "@trunkline/core";

type Stripper = typeof import("@swc/wasm-typescript");

interface StrippedSource {
  readonly code: string;
  /** Whether lines have moved; `code` then ends with a source map. */
  readonly isMapped: boolean;
}

let stripper: Stripper | undefined;

/** Strips the types from a module. Throws a `SyntaxError` whose stack shows the position. */
export function stripTypes(source: string, url: string): StrippedSource {
  // A CommonJS package of several megabytes, so it is loaded with the first TypeScript file.
  stripper ??= createRequire(import.meta.url)("@swc/wasm-typescript") as Stripper;
  const filename = fileURLToPath(url);
  try {
    const { code } = stripper.transformSync(source, { filename, module: true, mode: "strip-only" });
    return { code, isMapped: false };
  } catch (error) {
    if (!isRecord(error) || error.code !== "UnsupportedSyntax") throw syntaxErrorOf(error, filename);
  }
  try {
    const { code, map } = stripper.transformSync(source, {
      filename,
      module: true,
      mode: "transform",
      sourceMap: true,
      transform: { verbatimModuleSyntax: false, nativeClassProperties: true },
    });
    return { code: code + inlineMap(map, { source, url }), isMapped: true };
  } catch (error) {
    throw syntaxErrorOf(error, filename);
  }
}

/** Reads a file's source, without a byte order mark. */
export function readSource(url: string): string {
  return readFileSync(fileURLToPath(url), "utf8").replace(/^\uFEFF/, "");
}

function inlineMap(map: string | undefined, { source, url }: { source: string; url: string }): string {
  if (map === undefined) return "";
  const whole = { ...JSON.parse(map), sources: [url], sourcesContent: [source] };
  const data = Buffer.from(JSON.stringify(whole)).toString("base64");
  return `\n//# sourceMappingURL=data:application/json;base64,${data}\n`;
}

/** The library throws plain objects: code, message, snippet, startLine, startColumn (from 0). */
function syntaxErrorOf(fault: unknown, filename: string): unknown {
  if (!isRecord(fault) || typeof fault.message !== "string") return fault;
  const { message, snippet, startLine, startColumn } = fault;
  const error = new SyntaxError(message);
  const column = typeof startColumn === "number" ? `:${startColumn + 1}` : "";
  const shown = typeof snippet === "string" ? `${snippet.replace(/^\n+/, "").trimEnd()}\n\n` : "";
  error.stack = `${filename}:${String(startLine)}${column}\n${shown}SyntaxError: ${message}`;
  return error;
}
