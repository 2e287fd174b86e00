// Signs in to the named server as a person would, using the command on the PATH: reads the URL and opens it.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { browse } from "../servers/browser.js";

const login = spawn("trunkline", ["auth", "login", process.argv[2] ?? "", "--no-browser"], {
  stdio: ["ignore", "inherit", "pipe"],
});
login.once("exit", (code) => {
  process.exitCode = code ?? 1;
});
for await (const line of createInterface({ input: login.stderr })) {
  const address = /^ {2}(http\S+)$/.exec(line)?.[1];
  if (address !== undefined) await browse(address);
}
