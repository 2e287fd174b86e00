// Which protocol messages are supported. The single source: the docs page is generated from it, and
// test/docs/protocol.slow.test.ts checks it against the schemas of the revisions and against the running programs.

/** @typedef {"client" | "server" | "gateway"} Role */
/**
 * @typedef {object} Support
 * @property {readonly Role[]} [not] the roles that do not support it; the note says why
 * @property {Readonly<Record<string, readonly Role[]>>} [notIn] the same, for single revisions
 * @property {string} [note]
 * @property {readonly string[]} [tests] where it is tested in addition to, or instead of, the test of this table
 */

/** In column order. */
export const ROLES = /** @type {const} */ (["client", "server", "gateway"]);

const HOP = "Specific to each connection: the gateway answers it and does not forward it.";
const CLIENT_TASKS = "Tasks that a client holds for a server. The client does not offer them, so servers do not ask.";
const NOTHING_OWN = "The server itself does not need it; upstream servers do.";

const QUESTIONS = [
  "packages/client/test/channel/questions.slow.test.ts",
  "packages/gateway/test/endpoints/bridging.test.ts",
];
const STREAMS = [
  "packages/gateway/test/endpoints/stdio.test.ts",
  "packages/gateway/test/endpoints/http-modern.test.ts",
];

/** Requests and notifications by sender. Rows are in page order. */
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
    "resources/subscribe": { tests: ["packages/client/test/hub/resources.slow.test.ts"] },
    "resources/unsubscribe": { tests: ["packages/client/test/hub/resources.slow.test.ts"] },
    "subscriptions/listen": { tests: STREAMS },
    "completion/complete": {},
    "logging/setLevel": {},
    "tasks/get": {
      note: "The gateway wraps its clients' calls in tasks, whether or not the upstream server supports tasks.",
      tests: ["packages/client/test/connection/task-calls.test.ts"],
    },
    "tasks/result": { tests: ["packages/client/test/connection/task-calls.test.ts"] },
    "tasks/list": { note: "The client sends it only when a program asks for it with `hub.request`." },
    "tasks/cancel": { tests: ["packages/client/test/connection/task-calls.test.ts"] },
  },
  "server-to-client requests": {
    "elicitation/create": {
      note: "The server itself asks if a `policy` requires it.",
      tests: [...QUESTIONS, "test/e2e/serve-policy.test.ts"],
    },
    "sampling/createMessage": { not: ["server"], note: NOTHING_OWN, tests: QUESTIONS },
    "roots/list": {
      notIn: { "2026-07-28": ["server"] },
      note: "The server asks for the roots at startup, on behalf of the upstream servers. In 2026-07-28 it can only ask during a call, and does so for an upstream server.",
      tests: QUESTIONS,
    },
    ping: {
      not: ["server", "gateway"],
      note: "The client answers it. The server does not ping its clients.",
    },
    "tasks/get": { not: ["client", "server", "gateway"], note: CLIENT_TASKS },
    "tasks/result": { not: ["client", "server", "gateway"], note: CLIENT_TASKS },
    "tasks/list": { not: ["client", "server", "gateway"], note: CLIENT_TASKS },
    "tasks/cancel": { not: ["client", "server", "gateway"], note: CLIENT_TASKS },
  },
  "client-to-server notifications": {
    "notifications/initialized": {},
    "notifications/cancelled": {
      tests: ["packages/client/test/hub/calls.slow.test.ts", "packages/gateway/test/endpoints/stdio.test.ts"],
    },
    "notifications/roots/list_changed": {
      note: "Forwarded over stdio, which has a single client, so it is clear whose roots changed.",
    },
    "notifications/progress": {
      not: ["client", "server", "gateway"],
      note: "A client's progress on a question. Users are not asked for it, and nothing waits for it.",
    },
    "notifications/tasks/status": { not: ["client", "server", "gateway"], note: CLIENT_TASKS },
  },
  "server-to-client notifications": {
    "notifications/message": { not: ["server"], note: NOTHING_OWN },
    "notifications/progress": { tests: ["packages/gateway/test/composite/query.test.ts"] },
    "notifications/cancelled": {
      notIn: { "2026-07-28": ["server", "gateway"] },
      note: "A question is withdrawn when its call ends. In 2026-07-28 questions are part of a result and cannot be withdrawn; the client treats the notification as the end of a stream, and the server ends a stream with its result.",
      tests: QUESTIONS,
    },
    "notifications/tools/list_changed": { not: ["server"], note: "The composite tools never change." },
    "notifications/prompts/list_changed": { tests: ["packages/gateway/test/prompts/prompt-folders.test.ts"] },
    "notifications/resources/list_changed": {
      not: ["server"],
      note: "The server's own list never changes: documents are found through operations, templates and completion.",
    },
    "notifications/resources/updated": {
      tests: ["packages/client/test/hub/resources.slow.test.ts", "packages/gateway/test/service/resources.test.ts"],
    },
    "notifications/subscriptions/acknowledged": { tests: STREAMS },
    "notifications/elicitation/complete": {
      not: ["server"],
      note: "The client waits for it. The gateway passes it on to the client that was asked to visit the page.",
      tests: ["packages/client/test/connection/url-visits.test.ts", "test/e2e/visits.slow.test.ts"],
    },
    "notifications/tasks/status": { tests: ["packages/client/test/connection/task-calls.test.ts"] },
  },
});

/**
 * Methods of the extension `io.modelcontextprotocol/tasks` for 2026-07-28. The revision schemas do not contain
 * extensions.
 */
export const TASKS_EXTENSION = /** @satisfies {Record<string, Support>} */ ({
  "tasks/get": { tests: ["packages/client/test/connection/task-calls.test.ts"] },
  "tasks/update": { tests: ["packages/client/test/connection/task-calls.test.ts"] },
  "tasks/cancel": { tests: ["packages/client/test/connection/task-calls.test.ts"] },
  "notifications/tasks": {
    not: ["server", "gateway"],
    note: "The client accepts it. The server sends none: its clients poll with `tasks/get`, which the extension allows.",
  },
});

/**
 * Whether a role supports a message in a revision that defines it.
 * @param {Support} support
 * @param {Role} role
 * @param {string} revision
 */
export function isSupported({ not = [], notIn = {} }, role, revision) {
  return !not.includes(role) && notIn[revision]?.includes(role) !== true;
}
