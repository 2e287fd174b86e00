import type { Diagnostic } from "./loaded-config.js";
import { type ConfigNode, kindOf, memberOf, type Position, textOf } from "./tree.js";

/** A string in an entry, with its field and position. */
export interface Leaf {
  readonly text: string;
  readonly field: string;
  readonly at: Position;
}

/** The entry that diagnostics refer to. */
interface EntryPlace {
  readonly file: string;
  readonly server: string;
  /** Position of the entry's name. */
  readonly at: Position;
}

/** Creates a diagnostic about one field of one entry; its message names both. */
export function fieldDiagnostic(
  severity: Diagnostic["severity"],
  message: string,
  place: { file: string; server: string; field: string; at: Position },
): Diagnostic {
  const { file, server, field, at } = place;
  const where = field === "" ? "" : `, field "${field}"`;
  const end = message.endsWith("?") ? "" : ".";
  return {
    severity,
    message: `Server "${server}"${where}: ${message}${end}`,
    file,
    server,
    ...(field && { field }),
    ...at,
  };
}

/** Reads the fields of one entry from its tree and collects diagnostics. Paths are dotted. */
export class FieldReader {
  readonly diagnostics: Diagnostic[] = [];
  /** Whether the entry is unusable. */
  failed = false;
  readonly #node: ConfigNode;
  readonly #place: EntryPlace;

  constructor(node: ConfigNode, place: EntryPlace) {
    this.#node = node;
    this.#place = place;
  }

  /** Whether the entry is an object; reports it if not. */
  isObject(): boolean {
    if (this.#node.kind === "map") return true;
    this.fail("", `it is ${kindOf(this.#node)}, not an object such as { "command": "…" }`);
    return false;
  }

  /** Reads a string. With `quiet`, a wrong type is ignored. */
  string(field: string, { quiet = false } = {}): Leaf | undefined {
    const node = this.#find(field);
    if (node === undefined) return undefined;
    if (node.kind === "scalar" && typeof node.value === "string") return { text: node.value, field, at: node.at };
    if (!quiet) this.#wrongKind(field, "a string", node);
    return undefined;
  }

  boolean(field: string): boolean | undefined {
    const node = this.#find(field);
    if (node === undefined) return undefined;
    if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
    this.#wrongKind(field, "true or false", node);
    return undefined;
  }

  /** Reads a number; a numeric string is accepted. */
  number(field: string): number | undefined {
    const node = this.#find(field);
    if (node === undefined) return undefined;
    const value =
      node.kind === "scalar" && node.value !== "" && typeof node.value !== "boolean" ? Number(node.value) : Number.NaN;
    if (Number.isFinite(value)) return value;
    this.#wrongKind(field, "a number of seconds", node);
    return undefined;
  }

  has(field: string): boolean {
    return this.#find(field) !== undefined;
  }

  isList(field: string): boolean {
    return this.#find(field)?.kind === "list";
  }

  /** Reads a list of strings; numbers and booleans are accepted as written. */
  list(field: string): Leaf[] | undefined {
    const node = this.#find(field);
    if (node === undefined) return undefined;
    if (node.kind !== "list") {
      this.#wrongKind(field, 'a list such as ["…"]', node);
      return undefined;
    }
    return node.items.flatMap((item, index) => {
      const text = textOf(item);
      if (text !== undefined) return [{ text, field: `${field}.${index}`, at: item.at }];
      this.#wrongKind(`${field}.${index}`, "a string", item);
      return [];
    });
  }

  /** Reads names and strings; numbers and booleans are accepted as written, and null is dropped with a note. */
  texts(field: string): (Leaf & { name: string })[] {
    const node = this.#find(field);
    if (node === undefined) return [];
    if (node.kind !== "map") {
      this.#wrongKind(field, 'an object such as { "NAME": "value" }', node);
      return [];
    }
    const found = new Map<string, Leaf & { name: string }>();
    for (const { key: name, value } of node.members) {
      const path = `${field}.${name}`;
      const text = textOf(value);
      if (text !== undefined) found.set(name, { name, text, field: path, at: value.at });
      else if (value.kind === "scalar") this.note(path, "it is null and was ignored");
      else this.#wrongKind(path, "a string", value);
    }
    return [...found.values()];
  }

  /** Checks that a field, if present, is an object, and reports unknown names in it. */
  checkObject(field: string, known: readonly string[]): void {
    const node = this.#find(field);
    if (node === undefined) return;
    if (node.kind !== "map") {
      this.#wrongKind(field, `a list, or an object with ${known.map((name) => `"${name}"`).join(" and ")}`, node);
      return;
    }
    for (const { key } of node.members) {
      if (!known.includes(key)) this.note(`${field}.${key}`, "it is not a known field");
    }
  }

  /** Reports fields that look like typos or are not supported. */
  remarkOnUnknown(remarkOn: (field: string) => Pick<Diagnostic, "severity" | "message"> | undefined): void {
    if (this.#node.kind !== "map") return;
    for (const { key, at } of this.#node.members) {
      const remark = remarkOn(key);
      if (remark !== undefined) this.#say(remark.severity, key, remark.message, at);
    }
  }

  /** Marks the entry as unusable. `about` is the field to name if the field itself is missing. */
  fail(field: string, message: string, about = field): void {
    this.failed = true;
    this.#say("warning", about, message, this.#find(field)?.at ?? this.#place.at);
  }

  warn(field: string, message: string): void {
    this.#say("warning", field, message, this.#find(field)?.at ?? this.#place.at);
  }

  note(field: string, message: string): void {
    this.#say("note", field, message, this.#find(field)?.at ?? this.#place.at);
  }

  /** Finds the value at a path. A null field counts as absent. */
  #find(path: string): ConfigNode | undefined {
    if (path === "") return this.#node;
    let node: ConfigNode | undefined = this.#node;
    // Names under env and headers can contain dots, so try the rest of the path as one name first.
    for (let rest = path; rest !== ""; ) {
      const whole = memberOf(node, rest);
      const dot = rest.indexOf(".");
      if (whole !== undefined || dot === -1) {
        node = node?.kind === "list" ? node.items[Number(rest)] : whole;
        break;
      }
      node = memberOf(node, rest.slice(0, dot));
      rest = rest.slice(dot + 1);
    }
    return node?.kind === "scalar" && node.value === null && !path.includes(".") ? undefined : node;
  }

  #wrongKind(field: string, expected: string, node: ConfigNode): void {
    this.failed = true;
    this.#say("warning", field, `it must be ${expected}, not ${kindOf(node)}`, node.at);
  }

  #say(severity: Diagnostic["severity"], field: string, message: string, at: Position): void {
    this.diagnostics.push(fieldDiagnostic(severity, message, { ...this.#place, field, at }));
  }
}
