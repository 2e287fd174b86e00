/** JSON Schemas of others: validation, and forms. Pure, so the console's page imports it, too. */
export { validateField, validateForm } from "./form-check.js";
export type { ArgumentField, FieldValue, FormField } from "./form-fields.js";
export { describeField, parseText } from "./form-text.js";
export { missingArguments } from "./missing-arguments.js";
export { isQuickPattern } from "./quick-pattern.js";
export { formDefaults, readArgumentFields, readFormFields } from "./read-form.js";
export { pathText, type SchemaProblem, schemaProblems, validate } from "./validate.js";
