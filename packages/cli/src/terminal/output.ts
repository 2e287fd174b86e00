// Output of the store commands: for a user at a terminal, or for a pipe.
import { once } from "node:events";
import { StringDecoder } from "node:string_decoder";
import { printableLines } from "@trunkline/core";
import type { CommandContext } from "./context.js";
import { shownPath } from "./shown-path.js";

/** Options of every `store` command. */
export interface StoreOptions {
  store: string | undefined;
  json?: boolean;
  format?: "text" | "json";
}

export function wantsJson({ json, format }: { json?: boolean; format?: string }): boolean {
  return json === true || format === "json";
}

/** Returns how to show paths on stdout: relative to the working directory, and safe for a terminal. */
export function pathShower({ cwd, palette }: Pick<CommandContext, "cwd" | "palette">): (path: string) => string {
  return (path) => shownText(shownPath(path, cwd), palette.isTerminal);
}

/** Formats a byte count for people. */
export function shownBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}

/** Formats a count with its noun: `1 file`, `2 files`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Formats a time to the minute, in the local time zone. */
export function shownTime(iso: string): string {
  const time = new Date(iso);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** Shortens a hash to a prefix that is long enough to be unique and is accepted by commands. */
export function shortHash(hash: string): string {
  return hash.slice(0, 12);
}

/** Shows stored text: unchanged in a pipe, with control characters escaped at a terminal. Tabs stay. */
export function shownText(text: string, isTerminal: boolean): string {
  return isTerminal ? printableLines(text) : text;
}

/** Writes to stdout with backpressure. The text must already be printable. */
export async function writeOut({ io, signal }: CommandContext, bytes: Uint8Array | string): Promise<void> {
  if (bytes.length > 0 && !io.stdout.write(bytes)) await once(io.stdout, "drain", { signal });
}

/** Writes content in pieces: the very bytes in a pipe, printable text on a terminal. */
export async function writeContent(
  context: CommandContext,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  if (context.io.stdout.isTTY !== true) {
    for await (const piece of pieces) await writeOut(context, piece);
    return;
  }
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for await (const piece of pieces) {
    const text = rest + decoder.write(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
    // The next piece says whether this carriage return ends a line.
    rest = text.endsWith("\r") ? "\r" : "";
    await writeOut(context, printableLines(text.slice(0, text.length - rest.length)));
  }
  await writeOut(context, printableLines(rest + decoder.end()));
}
