// How much memory processes need, as the kernel counts it. Linux only: elsewhere nothing is known.
import { readdirSync, readFileSync } from "node:fs";

export interface ProcessMemory {
  /** All memory in use; pages that several processes share are divided among them. */
  readonly bytes: number;
  /** The memory that no other process uses: what another process of the same kind would need in addition, at least. */
  readonly ownBytes: number;
}

/** Returns the memory of this process; undefined if the system does not say. */
export function ownMemory(): ProcessMemory | undefined {
  return memoryOf("self");
}

/** Returns the memory of all processes in each of these process groups. */
export function memoryOfGroups(leaders: readonly number[]): ReadonlyMap<number, ProcessMemory> {
  const wanted = new Set(leaders);
  const groups = new Map<number, ProcessMemory>();
  if (wanted.size === 0 || process.platform !== "linux") return groups;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const group = groupOf(pid);
    if (group === undefined || !wanted.has(group)) continue;
    const { bytes = 0, ownBytes = 0 } = memoryOf(pid) ?? {};
    const sum = groups.get(group);
    groups.set(group, { bytes: (sum?.bytes ?? 0) + bytes, ownBytes: (sum?.ownBytes ?? 0) + ownBytes });
  }
  return groups;
}

function groupOf(pid: string): number | undefined {
  const stat = textOf(`/proc/${pid}/stat`);
  // The name in parentheses may contain anything, so fields are counted from its end.
  return stat === undefined ? undefined : Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]);
}

function memoryOf(pid: string): ProcessMemory | undefined {
  const text = textOf(`/proc/${pid}/smaps_rollup`);
  if (text === undefined) return undefined;
  const bytesOf = (field: string) => Number(new RegExp(`^${field}:\\s*(\\d+)`, "m").exec(text)?.[1] ?? 0) * 1024;
  return { bytes: bytesOf("Pss"), ownBytes: bytesOf("Private_Clean") + bytesOf("Private_Dirty") };
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Not Linux, or the process has ended meanwhile.
    return undefined;
  }
}
