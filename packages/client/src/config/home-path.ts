import { join } from "node:path";

/** Expands `~` and `~/…` like a shell; there is no shell between the file and the program. */
export function withHome(text: string, userHome: string): string {
  if (userHome === "" || !/^~(?:$|[/\\])/.test(text)) return text;
  return text === "~" ? userHome : join(userHome, text.slice(2));
}
