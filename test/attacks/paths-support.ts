// A workspace in a home folder with things worth stealing, and clients that try.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Place } from "../e2e/command.js";
import type { ClientBehaviour, ServedStdio } from "../e2e/serve-stdio-client.js";

/** A home folder with a project in it, as on a developer's machine. */
export class Machine extends Place {
  readonly project = join(this.home, "code", "app");

  constructor(files: Record<string, string> = {}) {
    super();
    this.put(".ssh/id_rsa", "PRIVATE KEY");
    this.put(".bashrc", "# mine\n");
    this.put("other/notes.md", "other notes");
    this.put("code/app/src/main.ts", "export const a = 1;\n");
    this.put("code/app/.env", "TOKEN=secret\n");
    for (const [path, text] of Object.entries(files)) this.put(path, text);
  }

  /** Writes a file below the home folder. */
  put(path: string, text: string): string {
    const file = join(this.home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }
}

/** A client whose user answers every question about files in the same way; `asked` collects the questions. */
export function asking(answer: string, asked: string[] = []): ClientBehaviour & { asked: string[] } {
  return {
    asked,
    capabilities: { elicitation: {} },
    answer: (_method, params) => {
      asked.push(String(params.message));
      return { action: "accept", content: { allow: answer } };
    },
  };
}

/** Runs one operation and returns its result, or its error. */
export async function attempt(served: ServedStdio, op: string, params: Record<string, unknown>, tool = "execute") {
  const { value } = tool === "execute" ? await served.execute(op, params) : await served.query(op, params);
  const [outcome] = value.results ?? [value];
  return outcome?.error ?? value.error ?? outcome?.result ?? outcome?.value ?? outcome ?? value;
}
