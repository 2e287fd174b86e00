// asking: asks the client during a call and returns the answers as JSON text. Tools: ask_form {question?}, ask_url,
// ask_sampling {prompt}, ask_roots, ask_many {count?, at_once?} (3 questions, one after another unless at_once),
// ask_forever (asks again after every answer). All take `tag`, which is part of the question and of the result, so a
// test can tell which answer reached which call. One implementation for both eras: it returns input_required, which the
// SDK turns into requests to a legacy client (elicitation/create, sampling/createMessage, roots/list, on the stream of
// the call's own POST). Options: only the common ones. Transports: stdio, --http (both eras, sessions for the legacy
// one), --sse.

import { randomBytes } from "node:crypto";
import { createRequestStateCodec, inputRequired } from "@modelcontextprotocol/server";
import { readOptions } from "./options.js";
import { createToolServer, serve } from "./sdk-serve.js";
import { countArgument, stringArgument, text } from "./tool.js";

/**
 * @typedef {import("@modelcontextprotocol/server").InputRequest} InputRequest
 * @typedef {import("./tool.js").Arguments} Arguments
 * @typedef {{ answers: unknown[] }} Asked answers from earlier rounds of the same call
 */

/** @type {import("@modelcontextprotocol/server").RequestStateCodec<Asked>} */
const states = createRequestStateCodec({ key: randomBytes(32) });

const tagSchema = { tag: { type: "string", description: "Repeated in the question and in the result." } };

/** @param {Arguments} args */
const tagOf = (args) => stringArgument(args, "tag", "");

/**
 * @param {string} message
 * @param {Arguments} args
 */
function tagged(message, args) {
  const tag = tagOf(args);
  return tag === "" ? message : `${message} [${tag}]`;
}

/** @param {string} message */
function formQuestion(message) {
  return inputRequired.elicit({
    message,
    requestedSchema: {
      type: "object",
      properties: {
        name: { type: "string", title: "Name", minLength: 1, maxLength: 40 },
        size: { type: "string", title: "Size", enum: ["small", "medium", "large"] },
        agreed: { type: "boolean", title: "Agreed", default: false },
        amount: { type: "number", title: "Amount", minimum: 0, maximum: 100 },
        colours: { type: "array", title: "Colours", items: { type: "string", enum: ["red", "green", "blue"] } },
      },
      required: ["name"],
    },
  });
}

/** @param {string} message */
function shortQuestion(message) {
  return inputRequired.elicit({
    message,
    requestedSchema: { type: "object", properties: { answer: { type: "string" } }, required: ["answer"] },
  });
}

/**
 * Creates a tool that asks one question and returns {tag, answer}.
 *
 * @param {Omit<import("./sdk-serve.js").SdkTool, "run">} definition
 * @param {(args: Arguments) => InputRequest} question
 * @returns {import("./sdk-serve.js").SdkTool}
 */
function askOnce(definition, question) {
  return {
    ...definition,
    run: (args, { mcpReq }) => {
      const answer = mcpReq.inputResponses?.answer;
      if (answer === undefined) return inputRequired({ inputRequests: { answer: question(args) } });
      return text(JSON.stringify({ tag: tagOf(args), answer }));
    },
  };
}

/** @type {import("./sdk-serve.js").SdkTool[]} */
const tools = [
  askOnce(
    {
      name: "ask_form",
      description: "Asks for a form to be filled in: string, enum, boolean, number and multiple choice.",
      inputSchema: { type: "object", properties: { question: { type: "string" }, ...tagSchema } },
    },
    (args) => formQuestion(tagged(stringArgument(args, "question", "Please fill in the form."), args)),
  ),
  askOnce(
    {
      name: "ask_url",
      description: "Asks for a web page to be visited.",
      inputSchema: { type: "object", properties: tagSchema },
    },
    (args) =>
      inputRequired.elicitUrl({
        message: tagged("Please visit this page.", args),
        url: `https://asking.example/visit?tag=${encodeURIComponent(tagOf(args))}`,
      }),
  ),
  askOnce(
    {
      name: "ask_sampling",
      description: "Asks the client's model.",
      inputSchema: { type: "object", properties: { prompt: { type: "string" }, ...tagSchema }, required: ["prompt"] },
    },
    (args) =>
      inputRequired.createMessage({
        messages: [{ role: "user", content: { type: "text", text: tagged(stringArgument(args, "prompt"), args) } }],
        maxTokens: 100,
      }),
  ),
  askOnce(
    {
      name: "ask_roots",
      description: "Asks for the client's roots. roots/list has no text, so its _meta carries the tag.",
      inputSchema: { type: "object", properties: tagSchema },
    },
    (args) => ({ method: "roots/list", params: { _meta: { "trunkline.test/tag": tagOf(args) } } }),
  ),
  {
    name: "ask_many",
    description: "Asks several questions, one after another or at once.",
    inputSchema: {
      type: "object",
      properties: { count: { type: "integer" }, at_once: { type: "boolean" }, ...tagSchema },
    },
    run: async (args, { mcpReq }) => {
      const count = countArgument(args, "count", 3);
      const answers = mcpReq.requestState() === undefined ? [] : [...stateOf(mcpReq).answers, ...answersOf(mcpReq)];
      if (answers.length >= count) return text(JSON.stringify({ tag: tagOf(args), answers }));
      const first = answers.length + 1;
      const last = args.at_once === true ? count : first;
      /** @type {Record<string, InputRequest>} */
      const inputRequests = {};
      for (let number = first; number <= last; number += 1) {
        inputRequests[`question_${number}`] = shortQuestion(tagged(`Question ${number} of ${count}`, args));
      }
      return inputRequired({ inputRequests, requestState: await states.mint({ answers }) });
    },
  },
  {
    name: "ask_forever",
    description: "Asks again after every answer.",
    inputSchema: { type: "object", properties: tagSchema },
    run: async (args, { mcpReq }) => {
      const answers = mcpReq.requestState() === undefined ? [] : [...stateOf(mcpReq).answers, null];
      const question = shortQuestion(tagged(`Question ${answers.length + 1}`, args));
      return inputRequired({ inputRequests: { question }, requestState: await states.mint({ answers }) });
    },
  },
];

/**
 * @param {import("./sdk-serve.js").ServerContext["mcpReq"]} mcpReq
 * @returns {Asked}
 */
function stateOf(mcpReq) {
  return mcpReq.requestState() ?? { answers: [] };
}

/**
 * Returns this round's answers in question order; a client can send them in any order.
 *
 * @param {import("./sdk-serve.js").ServerContext["mcpReq"]} mcpReq
 */
function answersOf({ inputResponses = {} }) {
  const number = (/** @type {string} */ key) => Number(key.replace("question_", ""));
  return Object.entries(inputResponses)
    .sort(([left], [right]) => number(left) - number(right))
    .map(([, answer]) => answer);
}

await serve(
  () =>
    createToolServer("asking", tools, {
      requestState: { verify: states.verify },
      // The SDK would stop asking a legacy client after 8 rounds; ask_forever tests the client's own limit.
      inputRequired: { maxRounds: 1_000_000 },
    }),
  readOptions({}),
);
