import { join } from "node:path";

/** Expands `~` and `~/…`, because there is no shell between the file and the program to do it. */
export function withHome(text: string, userHome: string): string {
  if (userHome === "" || !/^~(?:$|[/\\])/.test(text)) return text;
  return text === "~" ? userHome : join(userHome, text.slice(2));
}
