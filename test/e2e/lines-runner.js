// Runs several command lines in one process, one after another and each as the command itself would, and prints what came of
// them as JSON: for the many ways to be wrong that do not need a process each.
import { runProgram } from "../../packages/cli/dist/program.js";

/** @type {string[][]} */
const lines = JSON.parse(process.argv[2] ?? "[]");
const outcomes = [];
// Each line listens to these as if they were its own.
for (const stream of [process.stdin, process.stdout, process.stderr]) stream.setMaxListeners(0);
const write = process.stdout.write.bind(process.stdout);
for (const args of lines) {
  const outcome = { code: 0, stdout: "", stderr: "" };
  for (const name of /** @type {const} */ (["stdout", "stderr"])) {
    process[name].write = (/** @type {string | Uint8Array} */ chunk, /** @type {unknown[]} */ ...rest) => {
      outcome[name] += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
      const done = rest.at(-1);
      if (typeof done === "function") done();
      return true;
    };
  }
  outcome.code = await runProgram(args, new AbortController().signal);
  outcomes.push(outcome);
}
write(JSON.stringify(outcomes));
