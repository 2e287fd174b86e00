import { join } from "node:path";

/** `~` and `~/…` as a shell has them; there is none between the file and the program. */
export function withHome(text: string, userHome: string): string {
  if (userHome === "" || !/^~(?:$|[/\\])/.test(text)) return text;
  return text === "~" ? userHome : join(userHome, text.slice(2));
}
