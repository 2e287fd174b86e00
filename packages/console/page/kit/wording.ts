// Numbers, sizes and times as people read them.
export function shownBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const [unit, divisor] = bytes < 1e6 ? ["kB", 1e3] : bytes < 1e9 ? ["MB", 1e6] : ["GB", 1e9];
  return `${(bytes / Number(divisor)).toFixed(1)} ${unit}`;
}

export function shownMs(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}

export function shownCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** `1 tool`, `2 tools`. */
export function counted(count: number, noun: string): string {
  return `${shownCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** `just now`, `5 min ago`, `3 h ago`, `2 days ago`. */
export function shownAgo(iso: string, nowMs: number = Date.now()): string {
  const seconds = Math.max(0, (nowMs - Date.parse(iso)) / 1_000);
  if (seconds < 10) return "just now";
  if (seconds < 60) return `${Math.round(seconds)} s ago`;
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.round(seconds / 3_600)} h ago`;
  return counted(Math.round(seconds / 86_400), "day").concat(" ago");
}

/** Characters that draw nothing, or change the order or the look of others: controls and formatting. */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}]/gu;

/**
 * Makes hidden characters visible: a text from a server or document must look like what a model reads. Line breaks and
 * tabs stay.
 */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character) => `⟨${character.codePointAt(0)?.toString(16).padStart(4, "0")}⟩`);
}

/** The end of a path that is too long to show: what tells it from others. */
export function pathEnd(path: string, maxChars: number): string {
  if (path.length <= maxChars) return path;
  const end = path.slice(1 - maxChars);
  const slash = end.indexOf("/");
  return `…${slash > 0 && slash < maxChars / 2 ? end.slice(slash) : end}`;
}

/** The name of a client without its version: `cursor` for `cursor 1.4`. */
export function programOf(client: string): string {
  return client.replace(/ v?\d[\w.+-]*$/, "");
}
