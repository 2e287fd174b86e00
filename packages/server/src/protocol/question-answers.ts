// Whether an answer can be one to a question. The asking server checks it against its own schema; this is what keeps an
// answer that means something else from reaching it.
import { isRecord } from "@trunkline/core";
import type { RpcParams } from "@trunkline/protocol";

/** Whether this has the form of an answer to the question. */
export function fitsQuestion(
  question: { readonly method: string; readonly params: RpcParams },
  answer: unknown,
): answer is Record<string, unknown> {
  if (!isRecord(answer)) return false;
  switch (question.method) {
    case "elicitation/create":
      if (answer.action === "decline" || answer.action === "cancel") return true;
      if (answer.action !== "accept") return false;
      return question.params.mode === "url" || fitsForm(question.params.requestedSchema, answer.content);
    case "sampling/createMessage":
      return typeof answer.role === "string" && answer.content !== undefined;
    case "roots/list":
      return Array.isArray(answer.roots);
    default:
      return true;
  }
}

/** Only that nothing needed is missing: defaults, formats and limits are for the one who asks. */
function fitsForm(schema: unknown, content: unknown): boolean {
  if (!isRecord(schema) || !Array.isArray(schema.required)) return content === undefined || isRecord(content);
  const fields = isRecord(content) ? content : {};
  const properties = isRecord(schema.properties) ? schema.properties : {};
  return schema.required.every((name) => {
    if (typeof name !== "string") return true;
    const property = properties[name];
    const hasDefault = isRecord(property) && property.default !== undefined;
    return fields[name] !== undefined || hasDefault;
  });
}
