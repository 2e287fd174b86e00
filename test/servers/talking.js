// talking: a legacy server without an SDK that sends messages in addition to its responses. Tools: say {level, text,
// logger?} sends a log message before it answers; take_back {until} asks a question, cancels it as soon as the file
// `until` exists, and answers "taken back". Options: only the common ones. Transports: stdio.

import { existsSync, watch } from "node:fs";
import { dirname } from "node:path";
import { readLines, writeLine } from "./line-rpc.js";
import { readOptions } from "./options.js";
import { agreeOnVersion, answer } from "./raw-tool-server.js";
import { stringArgument, text } from "./tool.js";

readOptions({});

/** @type {import("./tool.js").PlainTool[]} */
const tools = [
  {
    name: "say",
    description: "Sends a log message.",
    inputSchema: {
      type: "object",
      properties: { level: { type: "string" }, text: { type: "string" }, logger: { type: "string" } },
      required: ["level", "text"],
    },
    run: (args) => {
      const params = { level: stringArgument(args, "level"), data: stringArgument(args, "text"), logger: args.logger };
      writeLine({ jsonrpc: "2.0", method: "notifications/message", params });
      return text("said");
    },
  },
  {
    name: "take_back",
    description: "Asks a question and takes it back when a file appears.",
    inputSchema: { type: "object", properties: { until: { type: "string" } }, required: ["until"] },
    run: async (args) => {
      const until = stringArgument(args, "until");
      const requestedSchema = { type: "object", properties: { answer: { type: "string" } } };
      const params = { message: "Never mind?", requestedSchema };
      // Watching begins before the question goes out, so that no file appears unseen.
      const appeared = new Promise((resolve) => {
        const watcher = watch(dirname(until), () => {
          if (!existsSync(until)) return;
          watcher.close();
          resolve(undefined);
        });
      });
      writeLine({ jsonrpc: "2.0", id: "question", method: "elicitation/create", params });
      await appeared;
      writeLine({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "question" } });
      return text("taken back");
    },
  },
];

await readLines(async (message) => {
  const answered = await answer({ name: "talking", tools, protocolVersion: agreeOnVersion }, message);
  if (answered !== undefined) writeLine(answered);
});
