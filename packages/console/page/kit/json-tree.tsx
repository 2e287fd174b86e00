// A JSON value that can be opened and closed. Long texts and lists are cut, so that any value can be shown.
import type { Json } from "@trunkline/console/contract";
import { useState } from "preact/hooks";
import { visible } from "./wording.js";

const OPEN_DEPTH = 2;
const MAX_CHARS = 2_000;
const PAGE = 100;

export function JsonTree({ value, name, depth = 0 }: { value: Json; name?: string; depth?: number }) {
  const key = name === undefined ? null : <span class="key">{visible(name)}: </span>;
  if (typeof value === "string") {
    return (
      <div class="tree">
        {key}
        <LongText text={value} />
      </div>
    );
  }
  if (value === null || typeof value !== "object") {
    return (
      <div class="tree">
        {key}
        <span class="other">{String(value)}</span>
      </div>
    );
  }
  return <Branch value={value as Json[] | Record<string, Json>} name={name} depth={depth} />;
}

function Branch({ value, name, depth }: { value: Json[] | Record<string, Json>; name?: string; depth: number }) {
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH);
  const [limit, setLimit] = useState(PAGE);
  const isList = Array.isArray(value);
  const entries: [string, Json][] = isList
    ? value.slice(0, limit).map((item, index) => [String(index), item])
    : Object.entries(value).slice(0, limit);
  const total = isList ? value.length : Object.keys(value).length;
  const brackets = isList ? `[${total}]` : `{${total}}`;
  return (
    <div class="tree">
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? "▾" : "▸"} {name === undefined ? "" : `${visible(name)} `}
        {brackets}
      </button>
      {isOpen && (
        <ul>
          {entries.map(([key, item]) => (
            <li key={key}>
              <JsonTree value={item} name={key} depth={depth + 1} />
            </li>
          ))}
          {total > limit && (
            <li>
              <button type="button" onClick={() => setLimit(limit + PAGE)}>
                … {total - limit} more
              </button>
            </li>
          )}
        </ul>
      )}
    </div>
  );
}

function LongText({ text }: { readonly text: string }) {
  const [limit, setLimit] = useState(MAX_CHARS);
  return (
    <span class="text">
      "{visible(text.slice(0, limit))}"
      {text.length > limit && (
        <button type="button" onClick={() => setLimit(limit * 10)}>
          {" "}
          … {text.length - limit} more characters
        </button>
      )}
    </span>
  );
}
