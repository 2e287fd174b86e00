// An upstream server that is busy for 20 ms with each call and answers one call at a time, like a program with one
// database connection. Tool: turn {text}.
import { setTimeout as delay } from "node:timers/promises";
import { readOptions } from "../../test/servers/options.js";
import { createToolServer, serve } from "../../test/servers/sdk-serve.js";
import { text } from "../../test/servers/tool.js";

const TURN_MS = 20;

/** @type {Promise<unknown>} */
let last = Promise.resolve();

/** @type {import("../../test/servers/sdk-serve.js").SdkTool} */
const turn = {
  name: "turn",
  description: "Waits for its turn, takes 20 ms, and returns the text.",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  run: async (args) => {
    last = last.then(() => delay(TURN_MS));
    await last;
    return text(String(args.text));
  },
};

await serve(() => createToolServer("turns", [turn]), readOptions({}));
