// The options of all gateway benchmarks: --seconds of load per round, --rounds, --tools <file> with a catalogue (see
// bench/catalogue.js).
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "1" },
    rounds: { type: "string", default: "5" },
    tools: { type: "string" },
  },
});

export const seconds = Number(values.seconds);
export const rounds = Number(values.rounds);
export const tools = values.tools;
