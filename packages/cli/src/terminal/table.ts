/**
 * Formats rows as lines with aligned columns. Columns listed in `right` are right-aligned; trailing spaces are trimmed.
 */
export function table(rows: readonly (readonly string[])[], options: { right?: readonly number[] } = {}): string[] {
  const widths = rows.reduce<number[]>(
    (max, row) => row.map((cell, column) => Math.max(max[column] ?? 0, cell.length)),
    [],
  );
  return rows.map((row) =>
    row
      .map((cell, column) =>
        options.right?.includes(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
}
