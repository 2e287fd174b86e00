// `${input:id}`: values that the user is asked for once, and that are then saved.
import { join } from "node:path";
import {
  isRecord,
  isRecordOf,
  isString,
  messageOf,
  parseJson,
  systemCodeOf,
  writeFileAtomically,
} from "@trunkline/core";
import { readOptional } from "./config-files.js";
import { type ConfigNode, memberOf, textOf } from "./tree.js";

export interface InputRequest {
  readonly id: string;
  readonly description?: string;
  /** Whether to hide the answer while it is typed. */
  readonly password?: boolean;
  readonly default?: string;
  /** Choices; the answer is a `value`. */
  readonly options?: readonly { readonly value: string; readonly label: string }[];
  /** The first server that needs this input. */
  readonly server: string;
  readonly file: string;
}

/** Asks the user; undefined means no answer. */
export type InputPrompt = (request: InputRequest) => Promise<string | undefined>;

export type InputDescription = Pick<InputRequest, "description" | "password" | "default" | "options">;

/** The file under the user's home that saves answers. */
const INPUTS_FILE = "inputs.json";

/** Reads the inputs a file describes, by id: VS Code's `promptString` and `pickString`. */
export function readInputs(root: ConfigNode): Map<string, InputDescription> {
  const inputs = memberOf(root, "inputs");
  const found = new Map<string, InputDescription>();
  for (const node of inputs?.kind === "list" ? inputs.items : []) {
    const id = textOf(memberOf(node, "id"));
    if (id === undefined) continue;
    const description = textOf(memberOf(node, "description"));
    const standard = textOf(memberOf(node, "default"));
    const password = textOf(memberOf(node, "password")) === "true";
    const options = readOptions(memberOf(node, "options"));
    found.set(id, {
      description,
      default: standard,
      ...(password ? { password } : {}),
      ...(options.length === 0 ? {} : { options }),
    });
  }
  return found;
}

function readOptions(node: ConfigNode | undefined): { value: string; label: string }[] {
  if (node?.kind !== "list") return [];
  return node.items.flatMap((item) => {
    const value = textOf(item) ?? textOf(memberOf(item, "value"));
    return value === undefined ? [] : [{ value, label: textOf(memberOf(item, "label")) ?? value }];
  });
}

/** Where an answer came from, or that there is none. */
type InputAnswer =
  | { readonly value: string; readonly from: "kept" | "person" | "default"; readonly notKept?: string }
  | { readonly value?: undefined; readonly from: "cancelled" | "headless" };

/** The answers of one run: each input of each file is asked for at most once, one question at a time. */
export class Inputs {
  readonly #prompt: InputPrompt | undefined;
  readonly #home: string | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #answers = new Map<string, InputAnswer>();

  constructor(options: {
    prompt?: InputPrompt;
    home?: string;
    signal?: AbortSignal;
  }) {
    this.#prompt = options.prompt;
    this.#home = options.home;
    this.#signal = options.signal;
  }

  /**
   * Returns the answer from this run, from the saved answers, or from the user. If no user can be asked, returns the
   * default.
   */
  async answer(request: InputRequest): Promise<InputAnswer> {
    const key = JSON.stringify([request.file, request.id]);
    const known = this.#answers.get(key) ?? (await this.#find(request));
    this.#answers.set(key, known);
    return known;
  }

  async #find(request: InputRequest): Promise<InputAnswer> {
    const { file, id } = request;
    const kept = this.#home === undefined ? undefined : (await readKept(this.#home, this.#signal)).get(file)?.get(id);
    if (kept !== undefined) return { value: kept, from: "kept" };
    if (this.#prompt === undefined) {
      return request.default === undefined ? { from: "headless" } : { value: request.default, from: "default" };
    }
    const value = await this.#prompt(request);
    if (value === undefined) return { from: "cancelled" };
    return { value, from: "person", ...(await this.#keep(request, value)) };
  }

  /** Saves an answer. If that fails, the answer is still used, and the user is asked again next time. */
  async #keep({ file, id }: InputRequest, value: string): Promise<{ notKept?: string }> {
    if (this.#home === undefined) return {};
    try {
      await changeKept(this.#home, (all) => {
        const own = all.get(file) ?? new Map<string, string>();
        all.set(file, own.set(id, value));
      });
      return {};
    } catch (error) {
      if (systemCodeOf(error) === undefined) throw error;
      return { notKept: messageOf(error) };
    }
  }
}

/** Deletes the saved answers for one file, so the user is asked again: a mistyped token must not stick. */
export async function forgetInputs(home: string, file: string): Promise<boolean> {
  let had = false;
  await changeKept(home, (all) => {
    had = all.delete(file);
  });
  return had;
}

type Kept = Map<string, Map<string, string>>;

/** Reads the saved answers. A damaged file counts as empty, and the user is asked again. */
async function readKept(home: string, signal?: AbortSignal): Promise<Kept> {
  const text = await readOptional(join(home, INPUTS_FILE), signal);
  if (text === undefined) return new Map();
  const json = parseJson(text);
  if (!isRecord(json) || json.version !== 1 || !isRecordOf(json.inputs, areAnswers)) return new Map();
  const entries = Object.entries(json.inputs);
  return new Map(entries.map(([file, answers]) => [file, new Map(Object.entries(answers))]));
}

function areAnswers(value: unknown): value is Record<string, string> {
  return isRecordOf(value, isString);
}

/**
 * Reads, changes and replaces the file: concurrent readers see the old or the new file, and other users can read
 * neither.
 */
async function changeKept(home: string, change: (all: Kept) => void): Promise<void> {
  const all = await readKept(home);
  change(all);
  const inputs = Object.fromEntries([...all].map(([file, answers]) => [file, Object.fromEntries(answers)]));
  const text = `${JSON.stringify({ version: 1, inputs }, null, 2)}\n`;
  await writeFileAtomically(join(home, INPUTS_FILE), text, { mode: 0o600, folderMode: 0o700, forceMode: true });
}
