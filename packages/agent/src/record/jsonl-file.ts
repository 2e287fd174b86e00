// Append-only files with one JSON value per line. Each line is written in a single write; a killed process leaves at
// most one torn line at the end, which readers skip and the next writer removes.
import { type FileHandle, mkdir, open, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { isRecord, messageOf, parseJson, systemCodeOf, TrunklineError } from "@trunkline/core";

/** A file that lines are appended to, in call order. */
export class JsonlFile implements AsyncDisposable {
  readonly path: string;
  readonly #file: FileHandle;
  #last: Promise<void> = Promise.resolve();
  #failure: TrunklineError | undefined;
  #closed = false;

  private constructor(path: string, file: FileHandle) {
    this.path = path;
    this.#file = file;
  }

  /**
   * Opens the file, creating it if needed, readable only by its owner. `replace` empties it first; otherwise its
   * content stays, except for a torn last line. Rejects with `IO`.
   */
  static async open(path: string, { replace = false }: { replace?: boolean } = {}): Promise<JsonlFile> {
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const file = await open(path, replace ? "w" : "a+", 0o600);
      try {
        if (!replace) await cutTornLine(file);
      } catch (error) {
        await file.close();
        throw error;
      }
      return new JsonlFile(path, file);
    } catch (error) {
      throw ioError(path, error);
    }
  }

  /** Appends a value. Resolves once the system has it; after one `IO` failure every call rejects. */
  async append(value: unknown): Promise<void> {
    const line = `${JSON.stringify(value)}\n`;
    const mine = this.#last.then(async () => {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#closed) throw new TrunklineError("CLOSED", `${this.path} has been closed.`);
      try {
        await this.#file.appendFile(line, "utf8");
      } catch (error) {
        // Part of a line may have been written, and any line appended to it would be lost.
        this.#failure = ioError(this.path, error);
        throw this.#failure;
      }
    });
    this.#last = mine.catch(() => {});
    await mine;
  }

  /** Waits for pending writes and closes the file. Idempotent. */
  async close(): Promise<void> {
    await this.#last;
    if (this.#closed) return;
    this.#closed = true;
    await this.#file.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Removes a torn line left by a killed process, or adds the missing line end after a complete value. */
async function cutTornLine(file: FileHandle): Promise<void> {
  const { size } = await file.stat();
  const lineStart = await lastLineStart(file, size);
  if (lineStart === size) return;
  const tail = Buffer.alloc(size - lineStart);
  await file.read(tail, 0, tail.length, lineStart);
  if (isRecord(parseJson(tail.toString("utf8")))) await file.appendFile("\n");
  else await file.truncate(lineStart);
}

async function lastLineStart(file: FileHandle, size: number): Promise<number> {
  const chunk = Buffer.alloc(64 * 1024);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - chunk.length);
    const { bytesRead } = await file.read(chunk, 0, end - start, start);
    const newline = chunk.subarray(0, bytesRead).lastIndexOf(0x0a);
    if (newline !== -1) return start + newline + 1;
    end = start;
  }
  return 0;
}

/** A line with its number, starting at 1. */
export interface JsonlLine {
  readonly number: number;
  readonly value: Record<string, unknown>;
}

/**
 * Reads the lines. Rejects with `NOT_FOUND`, `IO`, or `CONFIG_INVALID` for a line that is not a JSON object; a torn
 * last line is skipped.
 */
export async function readJsonl(path: string): Promise<JsonlLine[]> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") throw new TrunklineError("NOT_FOUND", `There is no file ${path}.`);
    throw ioError(path, error);
  }
  const lines = text.split("\n");
  const torn = lines.pop();
  const values = lines.flatMap((line, index) => {
    if (line.trim() === "") return [];
    const value = parseJson(line);
    if (isRecord(value)) return [{ number: index + 1, value }];
    throw new TrunklineError("CONFIG_INVALID", `Line ${index + 1} of ${path} is not a JSON object.`);
  });
  // Complete JSON without a line end was written by hand; a torn line is not JSON.
  const last = torn === undefined ? undefined : parseJson(torn);
  return isRecord(last) ? [...values, { number: lines.length + 1, value: last }] : values;
}

function ioError(path: string, error: unknown): TrunklineError {
  if (error instanceof TrunklineError) return error;
  return new TrunklineError("IO", `${path} cannot be used: ${messageOf(error)}`, { cause: error });
}
