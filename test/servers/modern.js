// modern: revision 2026-07-28 only; a legacy client is rejected. Tools: hello {name?}, echo {text}, ask (asks for a
// name with input_required, then greets it), log {message, level?} (logs if the call asked for a log level), grow (adds
// the tool grown_<n> and announces the changed list). Options: --accept-legacy serves the earlier revisions too, to
// test list_changed in both eras. Transports: stdio, --http.

import { acceptedContent, InMemoryServerEventBus, inputRequired } from "@modelcontextprotocol/server";
import { echo, hello } from "./greetings.js";
import { readOptions } from "./options.js";
import { createToolServer, serve } from "./sdk-serve.js";
import { failure, stringArgument, text } from "./tool.js";

const options = readOptions({ "accept-legacy": { type: "boolean", default: false } });
const bus = new InMemoryServerEventBus();
let grownCount = 0;

/** @type {import("./sdk-serve.js").SdkTool[]} */
const tools = [
  hello,
  echo,
  {
    name: "ask",
    description: "Asks for a name, then greets it.",
    inputSchema: { type: "object" },
    run: (_args, { mcpReq }) => {
      if (mcpReq.inputResponses?.name === undefined) {
        const name = inputRequired.elicit({
          message: "What is your name?",
          requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
        });
        return inputRequired({ inputRequests: { name } });
      }
      const content = acceptedContent(mcpReq.inputResponses, "name");
      return content === undefined ? failure("No name was given.") : text(`Hello, ${content.name}!`);
    },
  },
  {
    name: "log",
    description: "Logs a message before its result.",
    inputSchema: {
      type: "object",
      properties: {
        message: { type: "string" },
        level: { type: "string", enum: ["debug", "info", "warning", "error"] },
      },
      required: ["message"],
    },
    run: async (args, { mcpReq }) => {
      const level = args.level === "debug" || args.level === "warning" || args.level === "error" ? args.level : "info";
      await mcpReq.log(level, stringArgument(args, "message"));
      return text("done");
    },
  },
  {
    name: "grow",
    description: "Adds one tool and announces the changed list.",
    inputSchema: { type: "object" },
    run: () => {
      grownCount += 1;
      const name = `grown_${grownCount}`;
      tools.push({ name, description: "Added at run time.", inputSchema: { type: "object" }, run: () => text(name) });
      bus.publish({ kind: "tools_list_changed" });
      return text(name);
    },
  },
];

await serve(
  () => createToolServer("modern", tools, { capabilities: { tools: { listChanged: true }, logging: {} } }),
  options,
  {
    legacy: options["accept-legacy"],
    bus,
  },
);
