// Runs several command lines in one process, one after another and each as the command itself would, and prints what came of
// them as JSON: for the many ways to be wrong that do not need a process each.
import { homedir } from "node:os";
import { Readable, Writable } from "node:stream";
import { runProgram } from "../../packages/cli/dist/program.js";

/** @type {string[][]} */
const lines = JSON.parse(process.argv[2] ?? "[]");
const outcomes = [];
for (const args of lines) {
  const outcome = { code: 0, stdout: "", stderr: "" };
  /** @param {"stdout" | "stderr"} name */
  const keep = (name) =>
    new Writable({
      write: (chunk, _encoding, done) => {
        outcome[name] += chunk.toString();
        done();
      },
    });
  outcome.code = await runProgram(args, {
    stdin: Readable.from([]),
    stdout: keep("stdout"),
    stderr: keep("stderr"),
    env: process.env,
    cwd: process.cwd(),
    userHome: homedir(),
  });
  outcomes.push(outcome);
}
process.stdout.write(JSON.stringify(outcomes));
