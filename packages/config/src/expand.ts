// Expands `${NAME}` and its variants in the strings of an entry, by the rules of the dialect. There is only one pass:
// the value of a variable is never expanded again.
import { basename, sep } from "node:path";
import type { Dialect } from "./loaded-config.js";
import { parseSecretReference, type SecretReference } from "./secrets/secret-reference.js";

/** Values for the variables of one entry. */
export interface ExpandScope {
  readonly dialect: Dialect;
  /** Looks up a variable in the environment, including `.env`. A variable that is set but empty is `""`. */
  readonly env: (name: string) => string | undefined;
  readonly workspaceFolder: string;
  readonly userHome: string;
  /** The caller's values for `${NAME}` in `metadata.mcp`. */
  readonly context?: unknown;
  /** The answers to `${input:id}` in `servers`. */
  readonly inputs?: ReadonlyMap<string, string>;
  /** Whether the entry may have this secret. Default: no, and the reference stays as written. */
  readonly maySee?: (reference: SecretReference) => boolean;
}

/** A variable that is looked up when the server starts. */
export interface Deferred {
  readonly name: string;
  readonly fallback: string | undefined;
  /** The text shown until it is looked up. */
  readonly shown: string;
  /** Set if it is a secret, not a variable. */
  readonly secret?: SecretReference;
}

/** Something the file's owner should know about one substitution. */
export interface Finding {
  readonly kind: "unset" | "empty" | "literal" | "extension" | "unknown" | "input";
  readonly name: string;
}

export interface Expansion {
  /** The text in pieces; a text without deferred variables is a single piece. */
  readonly parts: readonly (string | Deferred)[];
  readonly findings: readonly Finding[];
  /** Values from variables and inputs, by name: the candidates for redaction. */
  readonly values: readonly { readonly name: string; readonly value: string }[];
  /** Whether anything was substituted or would have been. */
  readonly dynamic: boolean;
}

export function expandText(text: string, scope: ExpandScope): Expansion {
  const parts: (string | Deferred)[] = [];
  const findings: Finding[] = [];
  const values: { name: string; value: string }[] = [];
  let dynamic = false;
  const push = (piece: string | Deferred) => {
    const last = parts.at(-1);
    if (typeof piece === "string" && typeof last === "string") parts[parts.length - 1] = last + piece;
    else parts.push(piece);
  };
  for (const token of tokenize(text)) {
    if (typeof token === "string") {
      push(token);
      continue;
    }
    const secret = parseSecretReference(token.body);
    if (secret !== undefined) {
      // Looked up when the server starts. With a backslash it is text.
      const isDeferred = !token.escaped && scope.maySee?.(secret) === true;
      dynamic ||= isDeferred;
      push(isDeferred ? { name: secret.name, fallback: undefined, shown: token.source, secret } : token.source);
      continue;
    }
    const reference = parseReference(token.body);
    if (token.escaped) {
      if (scope.dialect === "metadata.mcp" && (reference.form === "name" || reference.form === "env")) {
        dynamic = true;
        push({ name: reference.name, fallback: reference.fallback, shown: token.source });
        continue;
      }
      if (reference.form === "name") {
        push(token.source);
        continue;
      }
      // The backslash of a Windows path: `C:\Users\${env:USERNAME}` works in VS Code.
      push("\\");
    }
    const outcome = lookUp(reference, scope);
    dynamic ||= outcome.kind !== "left";
    if (outcome.finding !== undefined) findings.push({ kind: outcome.finding, name: reference.name });
    push("text" in outcome ? outcome.text : token.source);
    if (outcome.kind === "variable") values.push({ name: reference.name, value: outcome.text });
  }
  return { parts: parts.length === 0 ? [""] : parts, findings, values, dynamic };
}

/** Returns the text of an expansion. `resolve` provides deferred values; by default they stay as written. */
export function renderParts(
  parts: readonly (string | Deferred)[],
  resolve: (deferred: Deferred) => string = (deferred) => deferred.shown,
): string {
  return parts.map((part) => (typeof part === "string" ? part : resolve(part))).join("");
}

/** Finds the secrets a text refers to. */
export function secretsIn(text: string): SecretReference[] {
  return tokenize(text).flatMap((token) =>
    typeof token === "string" || token.escaped ? [] : (parseSecretReference(token.body) ?? []),
  );
}

/** Finds the ids of the inputs a text refers to. */
export function inputIdsIn(text: string): string[] {
  return tokenize(text).flatMap((token) => {
    if (typeof token === "string") return [];
    const reference = parseReference(token.body);
    return reference.form === "input" ? [reference.name] : [];
  });
}

/**
 * Expands `${NAME}`, `${NAME:-default}` and `${env:NAME}` as in `mcpServers`. An unset `${NAME}` stays as it is, an
 * unset `${env:NAME}` becomes empty, and both are listed in `missing`. `\${NAME}` is the literal `${NAME}`. Without `env`
 * the environment is empty: the process's own is never read.
 */
export function expandEnv(
  text: string,
  env: Readonly<Record<string, string | undefined>> = {},
): { expanded: string; missing: string[] } {
  const { parts, findings } = expandText(text, {
    dialect: "mcpServers",
    env: lookupIn(env),
    workspaceFolder: "",
    userHome: "",
  });
  const missing = findings.filter(({ kind }) => kind === "unset" || kind === "empty").map(({ name }) => name);
  return { expanded: renderParts(parts), missing: [...new Set(missing)] };
}

/** Looks up names in an environment; inherited properties such as `constructor` are not variables. */
export function lookupIn(env: Readonly<Record<string, string | undefined>>): (name: string) => string | undefined {
  return (name) => {
    const value: unknown = env[name];
    return typeof value === "string" ? value : undefined;
  };
}

interface Token {
  /** With dollar and braces, without the backslash. */
  readonly source: string;
  readonly body: string;
  readonly escaped: boolean;
}

/** Splits text at each `${…}`. Nested braces count, so a default can be JSON: `${A:-{"x":1}}`. */
function tokenize(text: string): (string | Token)[] {
  const tokens: (string | Token)[] = [];
  if (!text.includes("${")) return text === "" ? [] : [text];
  const closing = closingBraces(text);
  let done = 0;
  for (let start = text.indexOf("${"); start !== -1; start = text.indexOf("${", Math.max(done, start + 2))) {
    const end = closing(start + 1);
    if (end === -1) break;
    const escaped = start > done && text[start - 1] === "\\";
    const before = text.slice(done, escaped ? start - 1 : start);
    if (before !== "") tokens.push(before);
    tokens.push({ source: text.slice(start, end + 1), body: text.slice(start + 2, end), escaped });
    done = end + 1;
  }
  if (done < text.length) tokens.push(text.slice(done));
  return tokens;
}

/**
 * Returns a function for the closing brace of an opening one: the first one after it if it has none of its own, or -1. The
 * text is read once; to look for each closing brace would take quadratic time.
 */
function closingBraces(text: string): (open: number) => number {
  const own = new Map<number, number>();
  const closing: number[] = [];
  const open: number[] = [];
  for (const { 0: brace, index } of text.matchAll(/[{}]/g)) {
    if (brace === "{") open.push(index);
    else {
      closing.push(index);
      const start = open.pop();
      if (start !== undefined) own.set(start, index);
    }
  }
  let next = 0;
  return (start) => {
    while (next < closing.length && (closing[next] ?? 0) < start) next++;
    return own.get(start) ?? closing[next] ?? -1;
  };
}

interface Reference {
  readonly form: "name" | "env" | "input" | "other";
  readonly name: string;
  readonly fallback: string | undefined;
}

function parseReference(body: string): Reference {
  const colon = body.indexOf(":");
  const prefix = colon === -1 ? "" : body.slice(0, colon);
  if (prefix === "input") return { form: "input", name: body.slice(colon + 1), fallback: undefined };
  const form = prefix === "env" ? "env" : "name";
  const named = form === "env" ? body.slice(colon + 1) : body;
  const split = named.indexOf(":-");
  const name = split === -1 ? named : named.slice(0, split);
  const fallback = split === -1 ? undefined : named.slice(split + 2);
  if (name === "" || name.includes(":")) return { form: "other", name: body, fallback: undefined };
  return { form, name, fallback };
}

type Outcome =
  | { readonly kind: "left" | "unset"; readonly finding?: Finding["kind"] }
  | { readonly kind: "variable" | "constant"; readonly text: string; readonly finding?: Finding["kind"] };

function lookUp(reference: Reference, scope: ExpandScope): Outcome {
  const { form, name, fallback } = reference;
  const constant = constantOf(name, scope);
  if ((form === "name" || form === "other") && constant !== undefined) return { kind: "constant", text: constant };
  switch (form) {
    case "other":
      return { kind: "left", finding: "unknown" };
    case "input": {
      if (scope.dialect !== "servers") return { kind: "left", finding: "input" };
      const answer = scope.inputs?.get(name);
      return answer === undefined ? { kind: "unset" } : { kind: "variable", text: answer };
    }
    case "env": {
      const value = scope.env(name) ?? fallback;
      if (value === undefined) return { kind: "constant", text: "", finding: "empty" };
      return { kind: scope.env(name) === undefined ? "constant" : "variable", text: value };
    }
    case "name": {
      // VS Code has no such form: it belongs to a shell or another program.
      if (scope.dialect === "servers" && fallback === undefined) {
        return scope.env(name) === undefined ? { kind: "left" } : { kind: "left", finding: "literal" };
      }
      const value = scope.dialect === "metadata.mcp" ? valueAt(scope.context, name) : scope.env(name);
      const remark = scope.dialect === "servers" ? { finding: "extension" as const } : {};
      if (value !== undefined) return { kind: "variable", text: value, ...remark };
      if (fallback !== undefined) return { kind: "constant", text: fallback, ...remark };
      return { kind: "unset", finding: "unset" };
    }
  }
}

/** Returns the value of a variable that does not depend on the environment, in any dialect. */
function constantOf(name: string, scope: ExpandScope): string | undefined {
  const { workspaceFolder, userHome } = scope;
  switch (name) {
    case "workspaceFolder":
    case `workspaceFolder:${basename(workspaceFolder)}`:
      if (workspaceFolder === "") return undefined;
      return sep === "/" ? workspaceFolder : workspaceFolder.replaceAll(sep, "/");
    case "workspaceFolderBasename":
      return workspaceFolder === "" ? undefined : basename(workspaceFolder);
    case "userHome":
      return userHome === "" ? undefined : userHome;
    case "pathSeparator":
    case "/":
      return sep;
    default:
      return undefined;
  }
}

/** Returns the value at a dotted path, as text. Own properties only. */
function valueAt(context: unknown, path: string): string | undefined {
  let current = context;
  const whole = typeof context === "object" && context !== null && Object.hasOwn(context, path);
  for (const key of whole ? [path] : path.split(".")) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  if (typeof current === "string") return current;
  return typeof current === "number" || typeof current === "boolean" ? String(current) : undefined;
}
