// A table of Markdown, aligned for a terminal.
import { type MarkdownPalette, renderInline } from "./markdown-inline.js";
import { widthOf, wrap } from "./text-width.js";

interface TableOptions {
  readonly columns: number;
  readonly palette: MarkdownPalette;
}

const GAP = "  ";
/** Narrower columns are harder to read than a list. */
const NARROWEST = 8;

const RULE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

/** Whether these lines are the start of a table: a header and a rule of dashes below. */
export function isTable(lines: readonly string[]): boolean {
  const [header = "", rule = ""] = lines;
  return RULE.test(rule) && rule.includes("-") && cellsOf(rule).length === cellsOf(header).length;
}

/** Renders a table. If it does not fit, cells are wrapped; if that would be too narrow, each row becomes a list. */
export function renderTable(lines: readonly string[], { columns, palette }: TableOptions): string[] {
  const [header = [], rule = [], ...rest] = lines.map(cellsOf);
  const rows = rest.map((row) => header.map((_, index) => row[index] ?? ""));
  const isRight = rule.map((cell) => /^-+:$/.test(cell));
  const shown = [header, ...rows].map((row) => row.map((cell) => renderInline(cell, palette)));
  const natural = header.map((_, index) => Math.max(...shown.map((row) => widthOf(row[index] ?? ""))));
  const room = columns - GAP.length * (header.length - 1);
  if (sum(natural) <= room) return grid(shown.map(oneLine), { widths: natural, isRight, palette });
  const plain: MarkdownPalette = { hasColours: true, heading: same, emphasis: same, accent: same, dim: same };
  const bare = [header, ...rows].map((row) => row.map((cell) => renderInline(cell, plain)));
  if (room < NARROWEST * header.length) return list(bare, { columns, palette });
  const widths = fitted(natural, room);
  const cells = bare.map((row) => row.map((cell, index) => broken(cell, widths[index] ?? NARROWEST)));
  return grid(cells, { widths, isRight, palette });
}

function same(text: string): string {
  return text;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function oneLine(row: readonly string[]): string[][] {
  return row.map((cell) => [cell]);
}

/** Splits a row at its bars; a bar in code or behind a backslash belongs to the cell. */
function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  const cells = inner.match(/(?:\\.|`[^`]*`|[^|])+|(?<=\|)(?=\||$)|^(?=\|)/g) ?? [""];
  return cells.map((cell) =>
    cell
      .replaceAll("\\|", "|")
      .replace(/<br\s*\/?>/gi, " ")
      .trim(),
  );
}

/** Cuts the widest columns until the table fits. */
function fitted(natural: readonly number[], room: number): number[] {
  let cap = Math.max(...natural);
  while (cap > NARROWEST && sum(natural.map((width) => Math.min(width, cap))) > room) cap--;
  return natural.map((width) => Math.min(width, cap));
}

/** Wraps a cell. A word that is too long for the column is cut. */
function broken(cell: string, width: number): string[] {
  return wrap(cell, { columns: width }).flatMap((line) => {
    const lines: string[] = [""];
    for (const char of line) {
      const last = lines.at(-1) ?? "";
      if (widthOf(last + char) > width) lines.push(char);
      else lines[lines.length - 1] = last + char;
    }
    return lines;
  });
}

interface GridOptions {
  readonly widths: readonly number[];
  readonly isRight: readonly boolean[];
  readonly palette: MarkdownPalette;
}

function grid(rows: readonly (readonly (readonly string[])[])[], { widths, isRight, palette }: GridOptions): string[] {
  const rule = palette.dim(widths.map((width) => "─".repeat(width)).join(GAP));
  return rows.flatMap((row, at) => {
    const height = Math.max(1, ...row.map((cell) => cell.length));
    const lines = Array.from({ length: height }, (_, line) =>
      row
        .map((cell, index) => {
          const text = cell[line] ?? "";
          const pad = " ".repeat(Math.max(0, (widths[index] ?? 0) - widthOf(text)));
          const painted = at === 0 ? palette.heading(text) : text;
          return isRight[index] === true ? `${pad}${painted}` : `${painted}${pad}`;
        })
        .join(GAP)
        .trimEnd(),
    );
    return at === 0 ? [...lines, rule] : lines;
  });
}

function list([header = [], ...rows]: readonly (readonly string[])[], { columns, palette }: TableOptions): string[] {
  return rows.flatMap((row, at) => [
    ...(at === 0 ? [] : [""]),
    ...row.flatMap((cell, index) =>
      wrap(`${palette.heading(`${header[index] ?? ""}:`)} ${cell}`, { columns, indent: "", hang: "  " }),
    ),
  ]);
}
