// Programs that take the place of the keychain's own commands and of 1Password's. They keep secrets in a file, and list
// how they were called.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

const PROGRAM = `
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require("node:fs");
const { basename, join } = require("node:path");
const file = join(__dirname, "kept.json");
const kept = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
const keep = () => writeFileSync(file, JSON.stringify(kept));
const program = basename(__filename);
const args = process.argv.slice(2);
appendFileSync(join(__dirname, "calls.log"), JSON.stringify([program, ...args.filter((word) => word.length < 500)]) + "\\n");
const input = () => readFileSync(0, "utf8");
const get = (name, missing) => {
  if (kept[name] === undefined) process.exit(missing);
  process.stdout.write(kept[name]);
};
if (process.env.OP_BROKEN || existsSync(join(__dirname, "broken"))) {
  process.stderr.write("Cannot autolaunch D-Bus without X11 $DISPLAY\\n");
  process.exit(1);
}
if (program === "secret-tool") {
  const name = args.at(-1);
  if (args[0] === "lookup") get(name, 1);
  if (args[0] === "store") { kept[name] = input(); keep(); }
  if (args[0] === "clear") { delete kept[name]; keep(); }
} else if (program === "security") {
  if (args[0] === "-i") {
    const [, name, value] = / -a (\\S+) -w (\\S+)\\n$/.exec(input());
    kept[name] = value; keep();
  } else {
    const name = args[args.indexOf("-a") + 1];
    if (args[0] === "find-generic-password") { get(name, 44); process.stdout.write("\\n"); }
    if (args[0] === "delete-generic-password") { delete kept[name]; keep(); }
  }
} else if (program === "powershell.exe") {
  const script = Buffer.from(args.at(-1), "base64").toString("utf16le").split("function Stop-With")[1];
  const name = process.env.NAME;
  if (script.includes("::Get(")) get(name, 44);
  if (script.includes("::Set(")) { kept[name] = input(); keep(); }
  if (script.includes("::Remove(")) { delete kept[name]; keep(); }
} else if (program === "op") {
  get(args.at(-1), 1);
}
`;

export class StandInKeychain {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
    for (const name of ["secret-tool", "security", "powershell.exe", "op"]) {
      writeFileSync(join(folder, name), `#!${process.execPath}\n${PROGRAM}`);
      chmodSync(join(folder, name), 0o755);
    }
  }

  /** A PATH on which these programs come first. */
  get path(): string {
    return `${this.folder}${delimiter}${process.env.PATH}`;
  }

  /** The secrets, as the programs keep them. */
  get kept(): Record<string, string> {
    const file = join(this.folder, "kept.json");
    return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  }

  set(name: string, value: string): void {
    writeFileSync(join(this.folder, "kept.json"), JSON.stringify({ ...this.kept, [name]: value }));
  }

  /** From now on every program fails, as if there were no keychain. */
  breakDown(): void {
    writeFileSync(join(this.folder, "broken"), "");
  }

  /** The command lines so far. */
  get calls(): string[][] {
    const file = join(this.folder, "calls.log");
    if (!existsSync(file)) return [];
    return readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  }
}
