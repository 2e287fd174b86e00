import { readFile } from "node:fs/promises";
import { abortError, systemCodeOf } from "@trunkline/core";

/** Text from the bytes of a file: a byte order mark goes, and UTF-16 as Windows' editors and shells write it is understood. */
export function decodeConfigText(bytes: Uint8Array): string {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : "utf-8";
  return new TextDecoder(encoding).decode(bytes);
}

/** The text of a file. What the system reports is thrown as it is; an abort is a `TrunklineError`. */
export async function readText(path: string, signal: AbortSignal | undefined): Promise<string> {
  try {
    return decodeConfigText(await readFile(path, signal === undefined ? {} : { signal }));
  } catch (error) {
    if (signal?.aborted) throw abortError(signal, "Reading the configuration");
    throw error;
  }
}

/** The text of a file; undefined where there is no such file, or a folder of that name, or no permission to read it. */
export async function readOptional(path: string, signal: AbortSignal | undefined): Promise<string | undefined> {
  try {
    return await readText(path, signal);
  } catch (error) {
    if (isMissing(error) || ["EISDIR", "EACCES", "EPERM"].includes(systemCodeOf(error) ?? "")) return undefined;
    throw error;
  }
}

/** Whether a system error says that there is nothing at that path. */
export function isMissing(error: unknown): boolean {
  const code = systemCodeOf(error);
  return code === "ENOENT" || code === "ENOTDIR";
}
