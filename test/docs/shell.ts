// A shell in which `trunkline` runs in this process, since starting Node for each command in the documentation would
// take minutes.
import {
  chmodSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  watch,
  writeFileSync,
} from "node:fs";
import { writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { Readable, type Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { systemCodeOf } from "@trunkline/core";
import { runProgram } from "../../packages/cli/src/program.js";
import { Interrupts } from "../../packages/cli/src/terminal/interrupts.js";
import { bin, Place, root } from "../e2e/command.js";

/**
 * The script the shell runs as `trunkline`. It writes the request to a folder and prints the response it reads from
 * named pipes. `run` and `serve` start a real process, because they outlive the command or take over the process.
 */
const STAND_IN = `
case " $* " in *" run "*|*" serve "*) exec "${process.execPath}" "${bin}" "$@";; esac
call=$(mktemp -d "$CALLS/new-XXXXXX")
pwd > "$call/cwd"
env -0 > "$call/env"
for word do printf '%s\\0' "$word"; done > "$call/args"
cat > "$call/stdin"
mkfifo "$call/out" "$call/code"
# With 2>&1 there is one pipe for both, which keeps the order.
[ /dev/fd/1 -ef /dev/fd/2 ] || mkfifo "$call/err"
ready="$CALLS/ready-\${call##*/new-}"
mv "$call" "$ready"
[ ! -e "$ready/err" ] || cat "$ready/err" >&2 &
cat "$ready/out"
wait
exit "$(cat "$ready/code")"`;

/** A folder and a HOME like a reader's, and a PATH with our command and an `npx` that needs no network. */
export class Shell implements Disposable {
  readonly place = new Place();
  readonly #bin = join(this.place.base, "bin");
  readonly #calls = join(this.place.base, "calls");
  readonly #answered = new Set<string>();
  readonly #watcher;

  constructor() {
    mkdirSync(this.#bin);
    mkdirSync(this.#calls);
    const commands = {
      trunkline: STAND_IN,
      npx: [
        'if [ "$1" = trunkline ]; then shift; exec trunkline "$@"; fi',
        `shift; name=$1; shift; exec "${process.execPath}" "${root}/node_modules/$name/dist/index.js" "$@"`,
      ].join("\n"),
      // Other blocks that use npm are marked no-run.
      npm: [
        `[ "$*" != "run fixtures" ] || exec "${process.execPath}" "${root}/test/servers/fixtures.js"`,
        "echo 'no npm here' >&2; exit 1",
      ].join("\n"),
    };
    for (const [name, lines] of Object.entries(commands)) {
      writeFileSync(join(this.#bin, name), `#!/bin/sh\n${lines}\n`);
      chmodSync(join(this.#bin, name), 0o755);
    }
    this.#watcher = watch(this.#calls, () => this.#answerAll());
  }

  /** The environment of a command block. */
  get env(): Record<string, string> {
    return {
      PATH: [this.#bin, process.env.PATH].join(delimiter),
      HOME: this.place.home,
      CALLS: this.#calls,
    };
  }

  [Symbol.dispose](): void {
    this.#watcher.close();
    this.place[Symbol.dispose]();
  }

  #answerAll(): void {
    for (const name of readdirSync(this.#calls)) {
      if (!name.startsWith("ready-") || this.#answered.has(name)) continue;
      this.#answered.add(name);
      void answer(join(this.#calls, name));
    }
  }
}

/** Runs the requested command. */
async function answer(folder: string): Promise<void> {
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  const words = (name: string) => read(name).split("\0").slice(0, -1);
  const env = Object.fromEntries(
    words("env").map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
  const interrupts = new Interrupts();
  // If its reader goes away, a command ends normally, as a process would.
  const pipe = (name: string): Writable =>
    createWriteStream(join(folder, name)).on("error", () => interrupts.press("SIGTERM"));
  const stdout = pipe("out");
  const stderr = existsSync(join(folder, "err")) ? pipe("err") : stdout;
  const code = await runProgram(words("args"), {
    stdin: Readable.from([readFileSync(join(folder, "stdin"))]),
    stdout,
    stderr,
    env,
    cwd: read("cwd").trimEnd(),
    userHome: env.HOME ?? "",
    interrupts,
  });
  for (const stream of new Set([stdout, stderr])) {
    stream.end();
    await finished(stream).catch((error: unknown) => {
      if (systemCodeOf(error) !== "EPIPE") throw error;
    });
  }
  await writeFile(join(folder, "code"), String(interrupts.signal.aborted ? 0 : code));
}
