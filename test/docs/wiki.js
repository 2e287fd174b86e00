// wiki: the server used in the guides. Tool: find {text?, tags?} (read-only). Transport: stdio.

import { readOptions } from "../servers/options.js";
import { createToolServer, serve } from "../servers/sdk-serve.js";
import { stringArgument, text } from "../servers/tool.js";

/** @type {import("../servers/sdk-serve.js").SdkTool} */
const find = {
  name: "find",
  description: "Finds pages.",
  inputSchema: {
    type: "object",
    properties: { text: { type: "string" }, tags: { type: "array", items: { type: "string" } } },
  },
  run: (args) => text(`1 page about ${stringArgument(args, "text", "everything")}: Release checklist`),
};

await serve(() => createToolServer("wiki", [find]), readOptions({}));
