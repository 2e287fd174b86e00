// Parses the text of another program's file.
import { isRecord, messageOf, TrunklineError } from "@trunkline/core";
import { parse } from "jsonc-parser";
import { parse as parseToml, TomlError } from "smol-toml";
import { jsonFault, type TextFault } from "./json-fault.js";
import { isTooDeep, TOO_DEEP } from "./nesting-limit.js";

/**
 * Returns the content as an object; an empty file is an empty object. JSON may have comments and trailing commas, as
 * most programs allow. Throws `IO` with the position of the first mistake.
 */
export function parseProgramText(text: string, format: "json" | "toml", path: string): Record<string, unknown> {
  const bare = text.replace(/^\uFEFF/, "");
  if (bare.trim() === "") return {};
  if (format === "toml") {
    let content: Record<string, unknown>;
    try {
      content = parseToml(bare);
    } catch (error) {
      if (!(error instanceof TomlError)) throw error;
      const [reason = ""] = messageOf(error)
        .replace(/^Invalid TOML document: /, "")
        .split("\n");
      throw malformed(path, { line: error.line, column: error.column, reason: `it is not valid TOML (${reason})` });
    }
    if (isTooDeep(content)) throw malformed(path, { line: 1, column: 1, reason: TOO_DEEP });
    return content;
  }
  const fault = jsonFault(bare);
  if (fault !== undefined) throw malformed(path, fault);
  const root: unknown = parse(bare, [], { allowTrailingComma: true, allowEmptyContent: true });
  if (root === undefined) return {};
  if (!isRecord(root)) throw malformed(path, { line: 1, column: 1, reason: "it does not contain an object" });
  return root;
}

function malformed(path: string, { line, column, reason }: TextFault): TrunklineError {
  return new TrunklineError("IO", `${path}:${line}:${column} cannot be used: ${reason}.`, {
    hint: "Fix the file and try again; nothing was changed.",
    data: { file: path, line, column },
  });
}
