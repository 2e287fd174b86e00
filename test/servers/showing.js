// showing: a legacy server without an SDK that shows how it was started. Tools: show returns its process id, working
// directory, umask, arguments and environment as JSON; keep {text} remembers a text, writes it to stderr, and returns all it remembers;
// leave {text} writes a text to stderr and ends the process.
// Options: any. Transports: stdio.

import { writeSync } from "node:fs";
import { readLines, writeLine } from "./line-rpc.js";
import { agreeOnVersion, answer } from "./raw-tool-server.js";
import { stringArgument, text } from "./tool.js";

/** @type {string[]} */
const kept = [];

/** @type {import("./tool.js").PlainTool[]} */
const tools = [
  {
    name: "show",
    description: "Shows how this process was started.",
    inputSchema: { type: "object" },
    run: () => {
      const { pid, env } = process;
      return text(
        JSON.stringify({ pid, cwd: process.cwd(), umask: process.umask(), args: process.argv.slice(2), env }),
      );
    },
  },
  {
    name: "keep",
    description: "Remembers a text.",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    run: (args) => {
      kept.push(stringArgument(args, "text"));
      console.error(`kept ${kept.at(-1)}`);
      return text(JSON.stringify(kept));
    },
  },
  {
    name: "leave",
    description: "Ends the process in mid-call.",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    run: (args) => {
      writeSync(2, `${stringArgument(args, "text")}\n`);
      process.exit(1);
    },
  },
];

await readLines(async (message) => {
  const answered = await answer({ name: "showing", tools, protocolVersion: agreeOnVersion }, message);
  if (answered !== undefined) writeLine(answered);
});
