// The page of what is supported of the protocol, from the table and the revisions.
import { isSupported, ROLES, SUPPORT, TASKS_EXTENSION } from "./protocol-support.js";

/** @typedef {import("./protocol-support.js").Support} Support */
/** @typedef {{ requests: Record<string, readonly string[]>, notifications: Record<string, readonly string[]>, inputRequests: readonly string[] }} Facts */

const TITLES = {
  "client-to-server requests": "Requests of a client",
  "server-to-client requests": "Requests of a server",
  "client-to-server notifications": "Notifications of a client",
  "server-to-client notifications": "Notifications of a server",
};

const HEAD = `# Protocol

What Trunkline supports of the Model Context Protocol, by method and revision. This page is made by \`npm run reference\` from
\`scripts/protocol-support.js\`. A [test](../../test/docs/protocol.test.ts) holds it against the official schemas, so that no method is
missing, and against the running programs: it sends each request in each revision.

**C** is the client: \`@trunkline/client\` sends the message to servers, or takes it from them. **S** is the server: \`trunkline serve\` takes
it, or sends it, about what is its own. **G** is the gateway: the message has its effect through \`trunkline serve --surface direct\`, at a
server behind it or coming from one. \`·\` stands for one that does not. A dash stands for a revision that does not define the method; the
server answers such a request with -32601, and the client does not send it.
`;

/**
 * Where a revision defines a message.
 * @param {Facts} facts
 * @param {string} group such as `client-to-server requests`
 * @param {string} method
 */
export function isDefined(facts, group, method) {
  const [direction = "", kind] = group.split(" ");
  const methods = kind === "requests" ? facts.requests[direction] : facts.notifications[direction];
  // Where servers send no requests of their own, they ask within a result.
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
    "## The extension for tasks",
    "",
    "`io.modelcontextprotocol/tasks`, which takes the place of the tasks of 2025-11-25.",
    "",
    row(["method", "2026-07-28"]),
    rule(2),
    ...extension,
    "",
  ].join("\n");
  return `${HEAD}\n${[...tables, tasks, notes.list()].join("\n")}`;
}

/** Footnotes: one number for each different text. */
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
