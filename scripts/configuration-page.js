// The reference page of configuration files, from the tables that the reader itself uses.

/** @type {readonly (readonly [string, string])[]} */
const FILES = [
  ["user", "yours"],
  ["project", "project"],
  ["programs", "imports"],
];

/**
 * @typedef {import("../packages/config/dist/index.js").EntryField} EntryField
 * @typedef {import("../packages/config/dist/index.js").SettingField} SettingField
 */

/**
 * @param {{
 *   entryFields: Readonly<Record<string, EntryField>>,
 *   settingFields: Readonly<Record<string, SettingField>>,
 * }} tables
 */
export function configurationPage({ entryFields, settingFields }) {
  return `# Configuration reference

Generated from \`packages/config/src/entry-fields.ts\` and \`setting-fields.ts\` by \`npm run reference\`; do not edit. How to write these files, with
examples: [Connect your servers](../guides/connect-your-servers.md#where-configuration-comes-from).

## Fields of a server

"Set by" says where a field has an effect: in **yours** (your own \`settings.json\`, or a file given with \`--mcp\`), in a **project**'s files, and when an entry is
taken over from another program by an **import**. A project's entry runs only after you have approved it; "approved" marks the fields whose change asks you again.

${table(["field", "meaning", "type", "default", "set by", "approved"], Object.entries(entryFields).map(entryRow))}

These names of other programs are accepted in every file:

${table(["field", "also written as"], Object.entries(entryFields).flatMap(aliasRow))}

## Settings

Your own settings are in \`settings.json\` in Trunkline's home; a project's are in its \`.trunkline/mcp.json\`. If several files make a setting, the strongest one
wins: a file given with \`--mcp\`, then the project's, then yours. Lists of tools and paths add up, and so do the rules of \`policy\`.

${table(["setting", "meaning", "value", "default", "set by"], Object.entries(settingFields).map(settingRow))}
`;
}

/** @param {[string, EntryField]} entry */
function entryRow([name, field]) {
  return [`\`${name}\``, field.about, field.type, field.default ?? "", files(field), field.isApproved ? "yes" : ""];
}

/**
 * @param {[string, EntryField]} entry
 * @returns {string[][]}
 */
function aliasRow([name, { aliases = [] }]) {
  return aliases.length === 0 ? [] : [[`\`${name}\``, aliases.map((alias) => `\`${alias}\``).join(", ")]];
}

/** @param {[string, SettingField]} entry */
function settingRow([name, field]) {
  return [`\`${name}\``, field.about, field.type, field.default ?? "", files(field)];
}

/** @param {{ readonly setBy: readonly string[] }} field */
function files({ setBy }) {
  return FILES.filter(([owner]) => setBy.includes(owner))
    .map(([, name]) => name)
    .join(", ");
}

/**
 * @param {readonly string[]} header
 * @param {readonly string[][]} rows
 */
function table(header, rows) {
  /** @param {readonly string[]} cells */
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n");
}
