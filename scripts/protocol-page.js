// Generates the page on protocol support from the table and the revisions.
import { isSupported, ROLES, SUPPORT, TASKS_EXTENSION } from "./protocol-support.js";

/** @typedef {import("./protocol-support.js").Support} Support */
/** @typedef {{ requests: Record<string, readonly string[]>, notifications: Record<string, readonly string[]>, inputRequests: readonly string[] }} Facts */

const TITLES = {
  "client-to-server requests": "Client requests",
  "server-to-client requests": "Server requests",
  "client-to-server notifications": "Client notifications",
  "server-to-client notifications": "Server notifications",
};

const HEAD = `# Protocol

The parts of the Model Context Protocol that Trunkline supports, by method and revision. \`npm run reference\` generates this page from
\`scripts/protocol-support.js\`. A [test](../../test/docs/protocol.slow.test.ts) checks it against the official schemas, so no method is
missing, and against the running programs: it sends each request in each revision.

**C** is the client: \`@trunkline/client\` sends the message to servers, or accepts it from them. **S** is the server: \`trunkline serve\`
accepts or sends it for its own features. **G** is the gateway: the message works through \`trunkline serve --surface direct\`, to or from an
upstream server. \`·\` means not supported. A dash means that the revision does not define the method; the server answers such a request
with -32601, and the client does not send it.
`;

/**
 * Whether a revision defines a message.
 * @param {Facts} facts
 * @param {string} group such as `client-to-server requests`
 * @param {string} method
 */
export function isDefined(facts, group, method) {
  const [direction = "", kind] = group.split(" ");
  const methods = kind === "requests" ? facts.requests[direction] : facts.notifications[direction];
  // If a revision has no server requests, servers ask within a result.
  const asked = group === "server-to-client requests" ? facts.inputRequests : [];
  return methods?.includes(method) === true || asked.includes(method);
}

/**
 * @param {Readonly<Record<string, Facts>>} revisions
 * @returns {string}
 */
export function protocolPage(revisions) {
  const names = Object.keys(revisions);
  const notes = new Notes();
  const tables = Object.entries(SUPPORT).map(([group, rows]) => {
    const lines = Object.entries(rows).map(([method, support]) => {
      const cells = names.map((name) => {
        const facts = revisions[name];
        return facts !== undefined && isDefined(facts, group, method) ? cellOf(support, name) : "–";
      });
      return row([`\`${method}\`${notes.mark(support)}`, ...cells]);
    });
    const title = TITLES[/** @type {keyof typeof TITLES} */ (group)];
    return [`## ${title}`, "", row(["method", ...names]), rule(names.length + 1), ...lines, ""].join("\n");
  });
  const extension = Object.entries(TASKS_EXTENSION).map(([method, support]) =>
    row([`\`${method}\`${notes.mark(support)}`, cellOf(support, "2026-07-28")]),
  );
  const tasks = [
    "## The tasks extension",
    "",
    "`io.modelcontextprotocol/tasks`, which replaces the tasks of 2025-11-25.",
    "",
    row(["method", "2026-07-28"]),
    rule(2),
    ...extension,
    "",
  ].join("\n");
  return `${HEAD}\n${[...tables, tasks, notes.list()].join("\n")}`;
}

/** Footnotes: one number per distinct text. */
class Notes {
  /** @type {string[]} */
  #texts = [];

  /** @param {Support} support */
  mark({ note, tests }) {
    const text = [note, tests === undefined ? undefined : `See ${tests.map(linkOf).join(", ")}.`]
      .filter((part) => part !== undefined)
      .join(" ");
    if (text === "") return "";
    if (!this.#texts.includes(text)) this.#texts.push(text);
    return ` [${this.#texts.indexOf(text) + 1}](#notes)`;
  }

  list() {
    return ["## Notes", "", ...this.#texts.map((text, index) => `${index + 1}. ${text}`), ""].join("\n");
  }
}

/** @param {string} path */
function linkOf(path) {
  return `[${path.split("/").at(-1)}](../../${path})`;
}

/** @param {Support} support @param {string} revision */
function cellOf(support, revision) {
  return ROLES.map((role) => (isSupported(support, role, revision) ? role.charAt(0).toUpperCase() : "·")).join(" ");
}

/** @param {readonly string[]} cells */
function row(cells) {
  return `| ${cells.join(" | ")} |`;
}

/** @param {number} columns */
function rule(columns) {
  return row(Array.from({ length: columns }, () => "---"));
}
