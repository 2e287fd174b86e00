/** JSON Schemas of others: validation. Pure, so the console's page imports it, too. */
export { isQuickPattern, MAX_MATCHED_CHARS } from "./quick-pattern.js";
export { pathText, type SchemaProblem, schemaProblems, type ValidationOptions, validate } from "./validate.js";
