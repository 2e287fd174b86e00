// Questions of servers and of Trunkline itself, as the page shows them, and the answers that they accept.
import { withoutAsker } from "@trunkline/client/internal";
import type { Json, QuestionAnswer, QuestionRow } from "@trunkline/console/contract";
import { isRecord, TrunklineError } from "@trunkline/core";
import { formDefaults, readFormFields, validateForm } from "@trunkline/core/schema";
import { type ConsoleWorld, folderLabel } from "./console-world.js";
import type { WaitingQuestion } from "./question-board.js";

const OWN_ASKER = "Trunkline asks: ";

/** Who asks is decided by the context, which no server can set; never by the words of the question. */
export function waitingRow(
  question: WaitingQuestion,
  world: Pick<ConsoleWorld, "workspaces" | "context">,
): QuestionRow {
  const { id, sinceMs, folder, caller, context } = question;
  const { params = {} } = question.question;
  const isOwn = context.isOwn === true;
  const said = typeof params.message === "string" ? params.message : "";
  const message = isOwn ? said.replace(OWN_ASKER, "") : withoutAsker(said, context.server);
  const common = {
    id,
    since: new Date(sinceMs).toISOString(),
    workspace: world.workspaces().find((each) => each.folder === folder)?.id ?? "",
    folder: folderLabel(folder, world.context.userHome),
    server: context.server,
    tool: context.tool,
    client: caller.name,
    message,
  };
  if (params.mode === "url") {
    const url = String(params.url);
    const { host } = new URL(url);
    // The page says it in its own words.
    const spoken = message.replace(`\n(This opens a page at ${host}.)`, "");
    return { ...common, kind: "visit", message: spoken, isOwn, url, host };
  }
  // Checked when it was received, and it is JSON as it came from the wire.
  return { ...common, kind: "form", isOwn, schema: (params.requestedSchema ?? {}) as Json };
}

/** Returns the answer in the form the protocol defines. Throws `INVALID_ARGUMENT` if it does not fit the question. */
export function checkedAnswer(question: WaitingQuestion, answer: QuestionAnswer): Readonly<Record<string, unknown>> {
  const { params = {} } = question.question;
  if (answer.action !== "accept" || params.mode === "url") return { action: answer.action };
  const schema = isRecord(params.requestedSchema) ? params.requestedSchema : {};
  const fields = readFormFields(schema);
  const given: Readonly<Record<string, unknown>> = isRecord(answer.content) ? answer.content : {};
  const unknown = Object.keys(given).find((name) => !fields.some((field) => field.name === name));
  if (unknown !== undefined) throw new TrunklineError("INVALID_ARGUMENT", `The form has no field "${unknown}".`);
  const problems = validateForm(fields, given);
  const wrong = fields.filter(({ name }) => Object.hasOwn(problems, name));
  if (wrong.length > 0) {
    const lines = wrong.map(({ name, title }) => `${title}: ${problems[name]}`);
    throw new TrunklineError("INVALID_ARGUMENT", lines.join(" "), { hint: "Correct it and send it again." });
  }
  return { action: "accept", content: { ...formDefaults(fields), ...given } };
}

/** Reads what a page sent. Throws `INVALID_ARGUMENT`. */
export function readAnswer(answer: Readonly<Record<string, unknown>>): QuestionAnswer {
  const { action, content, hash } = answer;
  if (action === "decline" || action === "cancel") return { action };
  const isValid =
    action === "accept" &&
    (content === undefined || isRecord(content)) &&
    (hash === undefined || typeof hash === "string");
  if (!isValid) throw new TrunklineError("INVALID_ARGUMENT", "This is not an answer to a question.");
  // It came as JSON.
  const values = content as Readonly<Record<string, Json>> | undefined;
  return { action, content: values, hash };
}
