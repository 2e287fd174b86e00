// The reference page of the operations, from their definitions.

/** @typedef {import("../packages/server/src/interfaces/operation.js").Operation} Operation */
/** @typedef {{ type?: string | string[], description?: string, default?: unknown, enum?: unknown[], anyOf?: Schema[], items?: Schema, minimum?: number, maximum?: number, properties?: Record<string, Schema>, required?: string[] }} Schema */

const PARTS = /** @type {const} */ ([
  ["read", "Reading", "In `query`, and in `execute`. Every `<server>.<tool>` that only reads is one of these too."],
  ["write", "Changing", "In `execute`. Every other `<server>.<tool>` is one of these too."],
  ["session", "Sessions", "The actions of the tool `session`."],
]);

/**
 * The whole page.
 *
 * @param {readonly Operation[]} operations
 */
export function referencePage(operations) {
  const parts = PARTS.map(([kind, title, note]) => {
    const members = operations.filter((operation) => operation.kind === kind);
    return [`## ${title}`, note, ...members.map(section)].join("\n\n");
  });
  const head = [
    "# Operations",
    "Made by `npm run reference` from the table in `packages/store/src/contract`; do not edit it by hand.",
    "A parameter marked with * has to be given. Numbers and booleans may be written as text, and one text stands for a " +
      "list of one. `describe` tells the same, and the schema of every upstream tool.",
  ];
  return `${[...head, ...parts].join("\n\n")}\n`;
}

/** @param {Operation} operation */
function section({ name, kind, summary, schema, example }) {
  const { properties = {}, required = [] } = /** @type {Schema} */ (schema);
  const rows = Object.entries(properties).map(([parameter, property]) => {
    const star = required.includes(parameter) ? "*" : "";
    const initial = property.default === undefined ? "" : `\`${JSON.stringify(property.default)}\``;
    return `| \`${parameter}\`${star} | ${typeOf(property)} | ${initial} | ${escaped(property.description ?? "")} |`;
  });
  const table = ["| parameter | type | default | |", "|---|---|---|---|", ...rows].join("\n");
  const call =
    kind === "session"
      ? { action: name, ...(Object.keys(example ?? {}).length === 0 ? {} : { params: example }) }
      : { op: name, ...(Object.keys(example ?? {}).length === 0 ? {} : { params: example }) };
  return [
    `### ${name}`,
    summary,
    ...(rows.length === 0 ? ["No parameters."] : [table]),
    `\`\`\`json\n${JSON.stringify(call)}\n\`\`\``,
  ].join("\n\n");
}

/** @param {Schema} schema @returns {string} */
function typeOf(schema) {
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(", ");
  if (Array.isArray(schema.type)) return schema.type.join(" or ");
  if (schema.type === "array")
    return `list of ${schema.items === undefined ? "anything" : plural(typeOf(schema.items))}`;
  const { minimum, maximum } = schema;
  const bounds =
    maximum === undefined
      ? minimum === undefined || minimum <= 0
        ? ""
        : `, from ${minimum}`
      : `, ${minimum} to ${maximum}`;
  return `${schema.type ?? "anything"}${bounds}`;
}

/** @param {string} type */
function plural(type) {
  return type === "string" ? "strings" : type === "object" ? "objects" : type;
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
