// Harmless tools shared by several test servers.

import { countArgument, stringArgument, text } from "./tool.js";

/** @typedef {import("./tool.js").PlainTool} PlainTool */

/** @type {PlainTool} */
export const hello = {
  name: "hello",
  description: "Greets someone by name.",
  inputSchema: {
    type: "object",
    properties: { name: { type: "string", description: "Who to greet; the world by default." } },
  },
  run: (args) =>
    text(`${process.env.GREETING === "short" ? "Hi" : "Hello"}, ${stringArgument(args, "name", "world")}!`),
};

/** @type {PlainTool} */
export const repeat = {
  name: "repeat",
  description: "Repeats a text, separated by spaces.",
  inputSchema: {
    type: "object",
    properties: {
      text: { type: "string", description: "What to repeat." },
      count: { type: "integer", description: "How often, from 1 to 5; 2 by default." },
    },
    required: ["text"],
  },
  run: (args) => {
    const times = Math.min(5, Math.max(1, countArgument(args, "count", 2)));
    return text(Array(times).fill(stringArgument(args, "text")).join(" "));
  },
};

/** @type {PlainTool} */
export const echo = {
  name: "echo",
  description: "Answers with the text it was given.",
  inputSchema: {
    type: "object",
    properties: { text: { type: "string", description: "What to answer." } },
    required: ["text"],
  },
  run: (args) => text(stringArgument(args, "text")),
};
