// An MCP client as a process of its own, to be killed: starts the command in its arguments, passes its own input and
// output through, and says the command's process id on stderr.
import { spawn } from "node:child_process";

const [command = "", ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
process.stderr.write(`relay ${child.pid}\n`);
process.stdin.pipe(child.stdin);
child.stdout.pipe(process.stdout);
child.once("exit", (code) => process.exit(code ?? 1));
