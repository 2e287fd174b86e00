// Scopes as they are written: names separated by spaces.

/** Joins lists of scopes; undefined if there are none. */
export function joinScopes(...lists: readonly (string | undefined)[]): string | undefined {
  const names = new Set(lists.flatMap((list) => list?.split(/\s+/) ?? []).filter((name) => name !== ""));
  return names.size === 0 ? undefined : [...names].join(" ");
}

/** Whether a list contains all scopes of another one. */
export function hasScopes(list: string, wanted: string | undefined): boolean {
  return joinScopes(list, wanted) === joinScopes(list);
}
