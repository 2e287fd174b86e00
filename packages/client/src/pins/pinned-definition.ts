// A definition as it is pinned: the tool, prompt or instructions as the server listed them, in canonical form.
import { contentIdOf, isRecord } from "@trunkline/core";

/** The parts of a server that are pinned. Instructions are one item without a name. */
export type PinKind = "tools" | "prompts" | "instructions";

export type Definition = Readonly<Record<string, unknown>>;

/** The same text for the same definition, whatever the order of keys. `_meta` is about the listing, not the item. */
export function canonicalText(definition: Definition): string {
  const { _meta: _, ...rest } = definition;
  return JSON.stringify(rest, (_key, value: unknown) =>
    isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
  );
}

export function definitionHash(canonical: string): string {
  return contentIdOf(canonical).slice(0, 32);
}

interface DefinitionText {
  readonly path: string;
  readonly text: string;
  /** It is the name of a field. */
  readonly isName?: boolean;
}

/** Every string of a definition, names of fields included, in order, with the path to it. */
export function* textsOf(definition: Definition): Generator<DefinitionText> {
  const { _meta: _, ...rest } = definition;
  const open: { path: string; value: unknown }[] = [{ path: "", value: rest }];
  // Not recursive: a schema can be nested deeper than the stack.
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path, value } = next;
    if (typeof value === "string") yield { path, text: value };
    else if (Array.isArray(value)) {
      open.push(...value.map((inner, index) => ({ path: `${path}[${index}]`, value: inner as unknown })).reverse());
    } else if (isRecord(value)) {
      const inner = Object.entries(value).map(([key, each]) => ({
        key,
        path: path === "" ? key : `${path}.${key}`,
        value: each,
      }));
      for (const { key, path: at } of inner) yield { path: `${at} (name)`, text: key, isName: true };
      open.push(...inner.reverse());
    }
  }
}

/** The names of all parameters, at any depth. */
export function parameterNames(definition: Definition): Set<string> {
  const names = new Set<string>();
  const open: unknown[] = [definition.inputSchema];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) open.push(...next);
    else if (isRecord(next)) {
      if (isRecord(next.properties)) for (const name of Object.keys(next.properties)) names.add(name);
      open.push(...Object.values(next));
    }
  }
  if (Array.isArray(definition.arguments)) {
    for (const each of definition.arguments) if (isRecord(each) && typeof each.name === "string") names.add(each.name);
  }
  return names;
}
