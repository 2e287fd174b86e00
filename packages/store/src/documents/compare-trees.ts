import type { DiffResult } from "../contract/index.js";

/** Path to content, for everything that can differ. */
export type Tree = Map<string, number>;

/** Compares two trees. A removed path and an added path with the same content count as a rename. */
export function compare(before: Tree, after: Tree): DiffResult {
  const modified = [...after].filter(([path, content]) => before.has(path) && before.get(path) !== content);
  const added = new Map([...after].filter(([path]) => !before.has(path)));
  const removed = new Map([...before].filter(([path]) => !after.has(path)));
  const byContent = new Map<number, string[]>();
  for (const [path, content] of removed) byContent.set(content, [...(byContent.get(content) ?? []), path]);
  const renamed: { from: string; to: string }[] = [];
  for (const [path, content] of [...added].sort()) {
    const source = byContent.get(content)?.shift();
    if (source === undefined) continue;
    renamed.push({ from: source, to: path });
    added.delete(path);
    removed.delete(source);
  }
  return {
    added: [...added.keys()].sort(),
    removed: [...removed.keys()].sort(),
    modified: modified.map(([path]) => path).sort(),
    renamed,
  };
}
