// What is known about newer versions: a small file in Trunkline's home. It may be missing, damaged or planted, so only
// plain values of a sensible size count.
import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord, isString, parseJson, writeFileAtomically } from "@trunkline/core";

interface KnownUpdate {
  /** When the registry was last asked, whether it answered or not. */
  readonly lookedAt?: number;
  /** The newest version, as far as is known. */
  readonly latest?: string;
  /** When the user was last told. */
  readonly saidAt?: number;
}

const FILE = "update-check.json";
const MAX_BYTES = 4096;

export async function readKnownUpdate(home: string): Promise<KnownUpdate> {
  const file = join(home, FILE);
  const stats = await lstat(file).catch(() => undefined);
  if (stats === undefined || !stats.isFile() || stats.size > MAX_BYTES) return {};
  const content = parseJson(await readFile(file, "utf8"));
  if (!isRecord(content)) return {};
  const { lookedAt, latest, saidAt } = content;
  return {
    ...(typeof lookedAt === "number" ? { lookedAt } : {}),
    ...(isPlainVersion(latest) ? { latest } : {}),
    ...(typeof saidAt === "number" ? { saidAt } : {}),
  };
}

export async function writeKnownUpdate(home: string, known: KnownUpdate): Promise<void> {
  await writeFileAtomically(join(home, FILE), `${JSON.stringify(known)}\n`, { mode: 0o600, folderMode: 0o700 });
}

/** Three numbers and nothing else: no text of a stranger is ever shown. */
export function isPlainVersion(value: unknown): value is string {
  return isString(value) && /^\d{1,6}\.\d{1,6}\.\d{1,6}$/.test(value);
}
