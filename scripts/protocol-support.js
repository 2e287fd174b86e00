// What of the protocol is supported, message by message: the one place where this is written down. The page is made from it,
// and test/docs/protocol.test.ts holds it against the schemas of the revisions and against the running programs.

/** @typedef {"client" | "server" | "gateway"} Role */
/**
 * @typedef {object} Support
 * @property {readonly Role[]} [not] the roles that do not have it; with a note that says why
 * @property {Readonly<Record<string, readonly Role[]>>} [notIn] the same, for single revisions
 * @property {string} [note]
 * @property {readonly string[]} [tests] where it is checked beside, or in place of, the test of this table
 */

/** The roles, in the order of the columns. */
export const ROLES = /** @type {const} */ (["client", "server", "gateway"]);

const HOP = "Each connection has its own: the gateway answers it and does not pass it on.";
const CLIENT_TASKS =
  "Tasks that a client keeps for a server. The client does not offer them, so that a server has no reason to ask.";
const NOTHING_OWN = "The server has no occasion for it; servers behind the gateway have.";

const QUESTIONS = ["packages/client/test/channel/questions.test.ts", "packages/server/test/endpoints/bridging.test.ts"];
const STREAMS = ["packages/server/test/endpoints/stdio.test.ts", "packages/server/test/endpoints/http-modern.test.ts"];

/** Requests and notifications by who sends them. Rows are in the order of the page. */
export const SUPPORT = /** @satisfies {Record<string, Record<string, Support>>} */ ({
  "client-to-server requests": {
    initialize: { note: HOP },
    "server/discover": { note: HOP },
    ping: { note: HOP },
    "tools/list": {},
    "tools/call": {},
    "prompts/list": {},
    "prompts/get": {},
    "resources/list": {},
    "resources/templates/list": {},
    "resources/read": {},
    "resources/subscribe": { tests: ["packages/client/test/protocol/resources.test.ts"] },
    "resources/unsubscribe": { tests: ["packages/client/test/protocol/resources.test.ts"] },
    "subscriptions/listen": { tests: STREAMS },
    "completion/complete": {},
    "logging/setLevel": {},
    "tasks/get": {
      note: "The gateway keeps tasks of its own around the calls of its clients, whatever the server behind it knows of tasks.",
      tests: ["packages/client/test/protocol/tasks.test.ts"],
    },
    "tasks/result": { tests: ["packages/client/test/protocol/tasks.test.ts"] },
    "tasks/list": { note: "The client sends it only for a program that asks for it, with `hub.request`." },
    "tasks/cancel": { tests: ["packages/client/test/protocol/tasks.test.ts"] },
  },
  "server-to-client requests": {
    "elicitation/create": {
      note: "The server itself asks where a `policy` says so.",
      tests: [...QUESTIONS, "test/e2e/serve-policy.test.ts"],
    },
    "sampling/createMessage": { not: ["server"], note: NOTHING_OWN, tests: QUESTIONS },
    "roots/list": {
      notIn: { "2026-07-28": ["server"] },
      note: "The server asks for them at the beginning, for the servers behind it. In 2026-07-28 it can ask only during a call, and does so for one of these.",
      tests: QUESTIONS,
    },
    ping: {
      not: ["server", "gateway"],
      note: "The client answers it. The server does not ask whether its client lives.",
    },
    "tasks/get": { not: ["client", "server", "gateway"], note: CLIENT_TASKS },
    "tasks/result": { not: ["client", "server", "gateway"], note: CLIENT_TASKS },
    "tasks/list": { not: ["client", "server", "gateway"], note: CLIENT_TASKS },
    "tasks/cancel": { not: ["client", "server", "gateway"], note: CLIENT_TASKS },
  },
  "client-to-server notifications": {
    "notifications/initialized": {},
    "notifications/cancelled": {
      tests: ["packages/client/test/hub/calls.test.ts", "packages/server/test/endpoints/stdio.test.ts"],
    },
    "notifications/roots/list_changed": {
      note: "Passed on over stdio, where there is one client and no doubt whose roots.",
    },
    "notifications/progress": {
      not: ["client", "server", "gateway"],
      note: "How far a client is with a question. People are not asked for it, and nobody waits for it.",
    },
    "notifications/tasks/status": { not: ["client", "server", "gateway"], note: CLIENT_TASKS },
  },
  "server-to-client notifications": {
    "notifications/message": { not: ["server"], note: NOTHING_OWN },
    "notifications/progress": { tests: ["packages/server/test/composite/query.test.ts"] },
    "notifications/cancelled": {
      notIn: { "2026-07-28": ["server", "gateway"] },
      note: "A question is withdrawn when its call has ended. In 2026-07-28 questions are part of a result and cannot be withdrawn; the client takes it as the end of a stream, and the server ends a stream with its result.",
      tests: QUESTIONS,
    },
    "notifications/tools/list_changed": { not: ["server"], note: "The composite tools are always the same." },
    "notifications/prompts/list_changed": { tests: ["packages/server/test/prompts/prompt-folders.test.ts"] },
    "notifications/resources/list_changed": {
      not: ["server"],
      note: "The server's own list is always the same: documents are found by operations, templates and completion.",
    },
    "notifications/resources/updated": {
      tests: ["packages/client/test/protocol/resources.test.ts", "packages/server/test/service/resources.test.ts"],
    },
    "notifications/subscriptions/acknowledged": { tests: STREAMS },
    "notifications/elicitation/complete": {
      not: ["server", "gateway"],
      note: "The client waits for it. The gateway repeats the call by itself when its server says so, and tells nobody.",
      tests: ["packages/client/test/protocol/url-visits.test.ts"],
    },
    "notifications/tasks/status": { tests: ["packages/client/test/protocol/tasks.test.ts"] },
  },
});

/** Methods of the extension `io.modelcontextprotocol/tasks` to 2026-07-28. Extensions are in no schema of a revision. */
export const TASKS_EXTENSION = /** @satisfies {Record<string, Support>} */ ({
  "tasks/get": { tests: ["packages/client/test/protocol/tasks.test.ts"] },
  "tasks/update": { tests: ["packages/client/test/protocol/tasks.test.ts"] },
  "tasks/cancel": { tests: ["packages/client/test/protocol/tasks.test.ts"] },
  "notifications/tasks": {
    not: ["server", "gateway"],
    note: "The client takes it. The server sends none: its clients ask with `tasks/get`, as the extension lets them.",
  },
});

/**
 * Whether a role has a message of these in a revision that defines it.
 * @param {Support} support
 * @param {Role} role
 * @param {string} revision
 */
export function isSupported({ not = [], notIn = {} }, role, revision) {
  return !not.includes(role) && notIn[revision]?.includes(role) !== true;
}
