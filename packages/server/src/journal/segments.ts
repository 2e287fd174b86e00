// The files of the journal: `calls-000001.jsonl`, `calls-000002.jsonl` and so on. Lines go to the end of the last one; when
// it is full, the next is begun and the oldest is removed. No file is ever renamed or rewritten, so that any number of
// processes can write and read at the same time without a lock.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { systemCodeOf } from "@trunkline/core";

const NAME = /^calls-(\d{6,})\.jsonl$/;

/** One file of the journal. */
export interface Segment {
  readonly number: number;
  readonly path: string;
}

/** The folder of the journal in a store's folder. */
export function journalFolder(storeFolder: string): string {
  return join(storeFolder, "journal");
}

/** The file with this number. */
export function segmentOf(folder: string, number: number): Segment {
  return { number, path: join(folder, `calls-${String(number).padStart(6, "0")}.jsonl`) };
}

/** The files that are there, the oldest first. None where there is no folder. */
export async function listSegments(folder: string): Promise<Segment[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(systemCodeOf(error) ?? "")) return [];
    throw error;
  }
  return names
    .flatMap((name) => {
      const [, number] = NAME.exec(name) ?? [];
      return number === undefined ? [] : [{ number: Number(number), path: join(folder, name) }];
    })
    .sort((a, b) => a.number - b.number);
}
