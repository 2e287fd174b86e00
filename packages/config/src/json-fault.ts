import { type ParseError, type ParseErrorCode, parse, printParseErrorCode } from "jsonc-parser";
import { TOO_DEEP, tooDeepAt } from "./nesting-limit.js";
import { locator, type Position } from "./tree.js";

export interface TextFault extends Position {
  /** For a sentence: "it is not valid JSON (comma expected)". */
  readonly reason: string;
}

/**
 * Finds the first mistake in a JSON text, or where it is nested too deeply. Comments and trailing commas are mistakes
 * only if `strict`.
 *
 * @example
 * jsonFault("{ oops }"); // { line: 1, column: 3, reason: "it is not valid JSON (invalid symbol)" }
 */
export function jsonFault(text: string, { strict = false }: { strict?: boolean } = {}): TextFault | undefined {
  const deep = tooDeepAt(text);
  if (deep !== undefined) return { ...locator(text)(deep), reason: TOO_DEEP };
  const errors: ParseError[] = [];
  parse(text, errors, { allowTrailingComma: !strict, disallowComments: strict, allowEmptyContent: !strict });
  const [first] = errors;
  if (first === undefined) return undefined;
  return { ...locator(text)(first.offset), reason: `it is not valid JSON (${wordsOf(first.error)})` };
}

/** Turns `PropertyNameExpected` into "property name expected". */
export function wordsOf(code: ParseErrorCode): string {
  return printParseErrorCode(code)
    .replace(/(?<=[a-z])(?=[A-Z])/g, " ")
    .toLowerCase();
}
