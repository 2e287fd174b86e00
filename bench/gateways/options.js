// The options of all gateway benchmarks: --seconds of load per round, --rounds, --tools <file> with a catalogue (see
// bench/catalogue.js), --only <names> for the gateways whose names start with one of these, separated by commas.
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "1" },
    rounds: { type: "string", default: "5" },
    tools: { type: "string" },
    only: { type: "string" },
  },
});

export const seconds = Number(values.seconds);
export const rounds = Number(values.rounds);
export const tools = values.tools;
export const only = values.only?.split(",");
