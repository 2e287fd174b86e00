// Prints paragraphs of a report that fit the terminal.
import { printable } from "@trunkline/core";
import type { CommandContext } from "./context.js";
import type { Palette } from "./palette.js";
import { columnsOf, wrap } from "./text-width.js";

type Colour = (text: string) => string;

/** Prints to stdout: redacted, printable, and broken at the terminal's width. In a pipe a paragraph is one line. */
export class Page {
  readonly palette: Palette;
  readonly #context: Pick<CommandContext, "io" | "palette" | "redactor" | "outPainted">;

  constructor(context: Pick<CommandContext, "io" | "palette" | "redactor" | "outPainted">) {
    this.#context = context;
    this.palette = context.palette;
  }

  /** Prints a paragraph; its other lines are indented by `hang`, two columns more than the first by default. */
  text(text: string, options: { indent?: number; hang?: number; colour?: Colour } = {}): void {
    const { indent = 0, hang = indent + 2, colour = (line: string) => line } = options;
    for (const line of this.#wrapped(this.#clean(text), indent, hang)) this.#context.outPainted(colour(line));
  }

  /** Prints the first line of a section: a mark, a name, and what it stands for. */
  title(mark: string, name: string, options: { what: string; colour: Colour }): void {
    const { what, colour } = options;
    const line = `${colour(mark)} ${this.palette.heading(this.#clean(name))}  ${this.#clean(what)}`;
    for (const each of this.#wrapped(line, 0, 4)) this.#context.outPainted(each);
  }

  /** Prints a name and what directly follows it. */
  named(name: string, rest: string): void {
    const line = `${this.palette.accent(this.#clean(name))}${this.#clean(rest)}`;
    for (const each of this.#wrapped(line, 0, 4)) this.#context.outPainted(each);
  }

  /** Prints an empty line. */
  gap(): void {
    this.#context.outPainted("");
  }

  #clean(text: string): string {
    return printable(this.#context.redactor.text(text));
  }

  #wrapped(text: string, indent: number, hang: number): string[] {
    const columns = columnsOf(this.#context.io.stdout);
    return wrap(text, { columns, indent: " ".repeat(indent), hang: " ".repeat(hang) });
  }
}
