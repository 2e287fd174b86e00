/** Requests that a server can send to its client, directly or within a result. */
const QUESTION_METHODS = ["elicitation/create", "sampling/createMessage", "roots/list"] as const;

type QuestionMethod = (typeof QUESTION_METHODS)[number];

/** The client capability that each of these requests needs. */
export const QUESTION_CAPABILITIES = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
} as const satisfies Readonly<Record<QuestionMethod, string>>;

/**
 * The server's lists that can change: the notification for each, and its name in the filter of `subscriptions/listen`.
 */
export const LIST_CHANGES = {
  tools_list_changed: {
    list: "tools",
    method: "notifications/tools/list_changed",
    filter: "toolsListChanged",
  },
  prompts_list_changed: {
    list: "prompts",
    method: "notifications/prompts/list_changed",
    filter: "promptsListChanged",
  },
  resources_list_changed: {
    list: "resources",
    method: "notifications/resources/list_changed",
    filter: "resourcesListChanged",
  },
} as const;

export function isQuestionMethod(method: string): method is QuestionMethod {
  return (QUESTION_METHODS as readonly string[]).includes(method);
}
