import { widthOf, wrap } from "./text-width.js";

interface TableOptions {
  /** Columns that are right-aligned. */
  readonly right?: readonly number[];
  /** The width to fit. Default: as wide as it gets. */
  readonly columns?: number;
  /** The number of columns that stay side by side if the table is too wide; the cells after them get their own lines. */
  readonly fixed?: number;
}

/** Formats rows as lines with aligned columns, without trailing spaces. A table that is too wide wraps its last cells. */
export function table(rows: readonly (readonly string[])[], options: TableOptions = {}): string[] {
  const { right = [], columns = Number.POSITIVE_INFINITY, fixed } = options;
  const widths = rows.reduce<number[]>(
    (max, row) => row.map((cell, column) => Math.max(max[column] ?? 0, widthOf(cell))),
    [],
  );
  const padded = (cell: string, column: number) => {
    const gap = " ".repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell)));
    return right.includes(column) ? `${gap}${cell}` : `${cell}${gap}`;
  };
  const lines = rows.map((row) => row.map(padded).join("  ").trimEnd());
  if (lines.every((line) => widthOf(line) <= columns)) return lines;
  if (fixed === undefined) return lines.flatMap((line) => wrap(line, { columns, hang: "    " }));
  return rows.flatMap((row) => {
    const head = row.slice(0, fixed).map(padded).join("  ");
    const margin = " ".repeat(widthOf(head) + 2);
    // Next to a wide head there is no room for text.
    if (margin.length > columns / 2) {
      const rest = row.slice(fixed).filter((cell) => cell !== "");
      return [head.trimEnd(), ...rest.flatMap((cell) => wrap(cell, { columns, indent: "    " }))];
    }
    const [first = "", ...rest] = row.slice(fixed).filter((cell) => cell !== "");
    return [
      ...wrap(first, { columns, indent: `${head}  `, hang: margin }),
      ...rest.flatMap((cell) => wrap(cell, { columns, indent: margin })),
    ];
  });
}
