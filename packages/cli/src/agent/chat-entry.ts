// Assembles chat entries from lines: a backslash at the end of a line continues on the next one, and
// ``` opens a block that ends with ```.

export class EntryReader {
  readonly #lines: string[] = [];
  #block: "plain" | "marked" | undefined;

  /** Whether an entry has started but is not complete. */
  get isOpen(): boolean {
    return this.#lines.length > 0 || this.#block !== undefined;
  }

  /** Adds a line; returns the entry once it is complete. A pasted line can contain several lines. */
  add(line: string): string | undefined {
    if (this.#block !== undefined) return this.#addToBlock(line);
    const fence = this.isOpen ? null : /^\s*```([\w+#.-]*)\s*$/.exec(line);
    if (fence !== null) {
      // Keep a fence with a language, for the model to see; a bare fence only holds the lines together.
      this.#block = fence[1] === "" ? "plain" : "marked";
      if (this.#block === "marked") this.#lines.push(line);
      return undefined;
    }
    if (line.endsWith("\\") && !line.endsWith("\\\\")) {
      this.#lines.push(line.slice(0, -1));
      return undefined;
    }
    this.#lines.push(line);
    return this.end();
  }

  /** Ends and returns the entry so far; undefined if there is none. */
  end(): string | undefined {
    this.#block = undefined;
    const lines = this.#lines.splice(0);
    return lines.length === 0 ? undefined : lines.join("\n");
  }

  #addToBlock(line: string): string | undefined {
    if (line.trim() !== "```") {
      this.#lines.push(line);
      return undefined;
    }
    if (this.#block === "marked") this.#lines.push(line);
    return this.end() ?? "";
  }
}
