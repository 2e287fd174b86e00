// What `describe` says about our own tools: more than their definitions, which every client pays for.

const REFERENCES = {
  "$prev.field[0]": "of the previous step's result, uncut",
  $x: 'of the step with "as": "x"',
  "$steps[0]": "of a step by its index",
  "$prev.items[*].id": "of every item, as a list; [0:3] for the first three",
  "{{$x.title}}": "inside a longer text",
  "$hash:<hash>": "stored content, put in without passing through you",
  $$: "a literal $",
};

const CARDS: Readonly<Record<string, unknown>> = {
  query: {
    name: "query",
    kind: "tool",
    summary: "Runs read operations in order, until one fails. grep and get work on the documents of the step before.",
    parameters: { steps: [{ op: "…", params: {}, as: "x", for_each: "$prev.results[*]" }], max_tokens: 8000 },
    references: { ...REFERENCES, $item: "with for_each: the item; the step runs once for each" },
  },
  execute: {
    name: "execute",
    kind: "tool",
    summary: "Runs any operations in order, until one fails. It has no for_each.",
    parameters: {
      operations: [{ op: "…", params: {} }],
      continueOnError: "run the rest after a failure",
      atomic: "undo everything on a failure; store operations only",
      dry_run: "say what would happen",
      idempotency_key: "the same key answers from the first run",
    },
    references: REFERENCES,
  },
};

/** Describes one of our own tools; undefined for other names. */
export function toolCard(name: string): unknown {
  return Object.hasOwn(CARDS, name) ? CARDS[name] : undefined;
}
