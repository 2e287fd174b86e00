// The values that a server of the registry needs: from `--input`, from the environment, from stdin, or typed by the user.
// Secrets go to the keychain, and the entry refers to them.
import { isSecretNameValid } from "@trunkline/config";
import { printable, TrunklineError } from "@trunkline/core";
import { isRecognisable, secretNames } from "../../app/kept-secrets.js";
import { freeName, type MovedSecret, secretNameFor } from "../../app/move-secrets.js";
import { type Answer, readAnswer } from "../../registry/registry-answers.js";
import type { Ask } from "../../registry/registry-recipe.js";
import type { CommandContext } from "../../terminal/context.js";
import { askLine } from "../../terminal/questions.js";

interface AskOptions {
  /** The name that the server gets. */
  readonly server: string;
  /** The values of `--input`. */
  readonly input: readonly string[];
  /** Whether the user can be asked. */
  readonly mayAsk: boolean;
}

interface Given {
  readonly answers: ReadonlyMap<string, readonly Answer[]>;
  /** What to put into the keychain before the entry is written. */
  readonly secrets: readonly MovedSecret[];
}

/** How often an invalid answer is asked for again. */
const TRIES = 3;

/** Collects an answer to every question, or throws `USAGE` with the names of all that are missing. */
export async function askInputs(context: CommandContext, asks: readonly Ask[], options: AskOptions): Promise<Given> {
  const given = await readInputs(context, asks, options.input);
  const taken = new Set(await secretNames(context));
  const answers = new Map<string, readonly Answer[]>();
  const secrets: MovedSecret[] = [];
  const missing: Ask[] = [];
  for (const ask of asks) {
    const texts = given.get(ask.key) ?? (options.mayAsk ? await askUser(context, ask) : []);
    if (texts.length > 0) {
      const own: Answer[] = [];
      for (const text of texts) {
        const answer = checkedAnswer(context, ask, text);
        if (!ask.isSecret || text.includes("${")) {
          own.push(answer);
          continue;
        }
        const name = await freeName(secretNameFor(options.server, ask.key), (each) => !taken.has(each));
        if (!isSecretNameValid(name))
          throw new TrunklineError("CONFIG_INVALID", "A secret of this server has no valid name.");
        taken.add(name);
        secrets.push({ name, value: answer.text });
        own.push({ text: `\${secret:${name}}`, isOwn: true });
      }
      answers.set(ask.key, own);
    } else if (ask.default !== undefined) answers.set(ask.key, [{ text: ask.default, isOwn: false }]);
    else if (ask.isRequired) missing.push(ask);
  }
  if (missing.length > 0) throw missingError(missing);
  for (const { name, value } of secrets) {
    context.redactor.add(value);
    if (!isRecognisable(value))
      context.note(`${printable(name)} is so short that it cannot be recognised in output, so it is not hidden there.`);
  }
  return { answers, secrets };
}

/**
 * Reads `--input NAME=value`. `NAME=-` reads the value from stdin, and `NAME` alone from the environment: only by name,
 * because the publisher chooses the names, and could choose that of any variable.
 */
async function readInputs(
  context: CommandContext,
  asks: readonly Ask[],
  input: readonly string[],
): Promise<Map<string, string[]>> {
  const given = new Map<string, string[]>();
  for (const text of input) {
    const split = text.indexOf("=");
    const [key, value] = split === -1 ? [text, undefined] : [text.slice(0, split), text.slice(split + 1)];
    const ask = asks.find((each) => each.key === key);
    if (ask === undefined) {
      const names = asks.map((each) => printable(each.key)).join(", ");
      // The text is not repeated: it may be a secret.
      throw new TrunklineError("USAGE", "--input takes the name of an input of this server: NAME=value.", {
        hint: names === "" ? "It has none." : `Its inputs: ${names}.`,
      });
    }
    if (ask.isSecret && value !== undefined && value !== "-" && !value.includes("${")) {
      throw new TrunklineError("USAGE", `${printable(key)} is a secret, and other programs can read arguments.`, {
        hint: `Take it from the environment with --input ${printable(key)}, pipe it in with --input ${printable(key)}=-, or refer to it: --input '${printable(key)}=\${secret:NAME}'`,
      });
    }
    const earlier = given.get(key) ?? [];
    if (earlier.length > 0 && !ask.isRepeated)
      throw new TrunklineError("USAGE", `--input ${printable(key)} is given twice, and takes one value.`);
    const found = value === "-" ? await readStdin(context) : (value ?? fromEnvironment(context, key));
    given.set(key, [...earlier, found]);
  }
  return given;
}

function fromEnvironment({ env }: CommandContext, name: string): string {
  const value = env[name];
  if (value) return value;
  throw new TrunklineError("USAGE", `The environment variable ${printable(name)} is not set.`, {
    hint: `Set it, or give the value: --input ${printable(name)}=…`,
  });
}

async function readStdin(context: CommandContext): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of context.io.stdin) chunks.push(Buffer.from(chunk));
  const value = Buffer.concat(chunks)
    .toString("utf8")
    .replace(/\r?\n$/, "");
  if (value === "") throw new TrunklineError("USAGE", "The value on stdin is empty.", { hint: "Nothing was written." });
  return value;
}

async function askUser(context: CommandContext, ask: Ask): Promise<string[]> {
  const about = [ask.description ?? "", ...(ask.placeholder === undefined ? [] : [`for example ${ask.placeholder}`])];
  const line = about.filter((text) => text !== "").join("; ");
  context.note(`${printable(ask.key)}${line === "" ? "" : `: ${printable(line)}`}`);
  for (const [index, choice] of ask.choices.entries()) context.note(`  ${index + 1}. ${printable(choice)}`);
  const preset = ask.default === undefined ? (ask.isRequired ? "" : " (optional)") : ` [${printable(ask.default)}]`;
  const texts: string[] = [];
  for (let tries = 0; tries < TRIES; ) {
    const typed = await askLine(context, `${printable(ask.key)}${preset}: `, { hidden: ask.isSecret });
    if (typed === "") return texts;
    const text = ask.choices[Number(typed) - 1] ?? typed;
    const answer = readAnswer(ask, text, context);
    if ("problem" in answer) {
      context.note(`That does not work: ${printable(answer.problem)}.`, "warning");
      tries++;
      continue;
    }
    texts.push(text);
    if (!ask.isRepeated) return texts;
    context.note("Another one? An empty line ends the list.");
  }
  return texts;
}

function checkedAnswer(context: CommandContext, ask: Ask, text: string): Answer {
  const answer = readAnswer(ask, text, context);
  if (!("problem" in answer)) return answer;
  throw new TrunklineError("USAGE", `The value of ${printable(ask.key)} does not work: ${printable(answer.problem)}.`);
}

function missingError(missing: readonly Ask[]): TrunklineError {
  const names = missing.map(({ key }) => printable(key));
  const ways = missing.map(({ key, isSecret }) => {
    const name = printable(key);
    return isSecret
      ? `--input ${name} takes it from the environment, --input ${name}=- from stdin`
      : `--input ${name}=…`;
  });
  return new TrunklineError("USAGE", `Values are missing: ${names.join(", ")}.`, {
    hint: `${ways.join("; ")}. Nothing was written.`,
  });
}
