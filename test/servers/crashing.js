// crashing: dies when and how it is told to. Tools: ok answers "ok <pid>"; crash {code?, stderr?} writes to stderr and
// exits mid-call, with code 1 by default. Options: --crash-on-start prints an error and exits with 3; --crash-after N
// answers N calls and dies on the next one. Transports: stdio, --http, --sse.

import { readOptions, wholeNumber } from "./options.js";
import { createToolServer, serve } from "./sdk-serve.js";
import { countArgument, text } from "./tool.js";

const options = readOptions({
  "crash-on-start": { type: "boolean", default: false },
  "crash-after": { type: "string" },
});

if (options["crash-on-start"]) {
  console.error("Error: crashing on start, as --crash-on-start asks");
  process.exit(3);
}

let callsLeft =
  options["crash-after"] === undefined
    ? Number.POSITIVE_INFINITY
    : wholeNumber(options["crash-after"], "--crash-after");

/**
 * @param {number} code
 * @returns {never}
 */
function crash(code) {
  console.error(`Error: crashing in mid-call with exit code ${code}`);
  process.exit(code);
}

/** @type {import("./sdk-serve.js").SdkTool[]} */
const tools = [
  {
    name: "ok",
    description: "Answers with the process id.",
    inputSchema: { type: "object" },
    run: () => {
      if (callsLeft === 0) crash(1);
      callsLeft -= 1;
      return text(`ok ${process.pid}`);
    },
  },
  {
    name: "crash",
    description: "Ends the server in mid-call.",
    inputSchema: {
      type: "object",
      properties: {
        code: { type: "integer", description: "The exit code; 1 by default." },
        stderr: { type: "string", description: "Text to write to stderr first." },
      },
    },
    run: (args) => {
      if (typeof args.stderr === "string") console.error(args.stderr);
      return crash(countArgument(args, "code", 1));
    },
  },
];

await serve(() => createToolServer("crashing", tools), options);
