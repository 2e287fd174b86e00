// Saved conversations, one file each, under the home folder.
import { randomBytes } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { nearestNames, TrunklineError } from "@trunkline/core";
import { namesIn } from "../app/folders.js";
import type { CommandContext } from "../terminal/context.js";

export interface ChatFile {
  readonly id: string;
  readonly path: string;
}

const SUFFIX = ".jsonl";

/** Names the file of a new conversation; nothing is created yet. IDs sort by time. */
export function newChatFile(context: Pick<CommandContext, "home">, now: Date): ChatFile {
  const time = now
    .toISOString()
    .replace(/\.\d+Z$/, "")
    .replace(/[:-]/g, "")
    .replace("T", "-");
  const id = `${time}-${randomBytes(2).toString("hex")}`;
  return { id, path: join(folderOf(context), `${id}${SUFFIX}`) };
}

/** Finds the conversation to continue: by ID, or the one used last. Throws `USAGE` if it does not exist. */
export async function findChatFile(context: Pick<CommandContext, "home">, id?: string): Promise<ChatFile> {
  const folder = folderOf(context);
  const ids = (await namesIn(folder))
    .filter((name) => name.endsWith(SUFFIX))
    .map((name) => name.slice(0, -SUFFIX.length));
  const fileOf = (known: string): ChatFile => ({ id: known, path: join(folder, `${known}${SUFFIX}`) });
  if (id !== undefined) {
    if (ids.includes(id)) return fileOf(id);
    const near = nearestNames(id, ids);
    throw new TrunklineError("USAGE", `There is no conversation "${id}".`, {
      hint:
        near.length > 0
          ? `Did you mean ${near.join(" or ")}?`
          : "--resume alone continues the last one; a prompt goes before it.",
    });
  }
  const used = await Promise.all(
    ids.map(async (known) => ({ file: fileOf(known), atMs: (await stat(fileOf(known).path)).mtimeMs })),
  );
  const last = used.sort((a, b) => b.atMs - a.atMs || (a.file.id < b.file.id ? 1 : -1))[0];
  if (last !== undefined) return last.file;
  throw new TrunklineError("USAGE", "There is no conversation to continue.", {
    hint: "`trunkline chat` starts one.",
  });
}

function folderOf({ home }: Pick<CommandContext, "home">): string {
  return join(home, "chats");
}
