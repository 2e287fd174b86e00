// What a person types in a chat, put together from lines: a backslash at the end of a line goes on with the next one, and
// ``` opens a block that ends with ```.

/** Puts lines together to entries. */
export class EntryReader {
  readonly #lines: string[] = [];
  #block: "plain" | "marked" | undefined;

  /** Whether an entry has begun and is not whole yet. */
  get isOpen(): boolean {
    return this.#lines.length > 0 || this.#block !== undefined;
  }

  /** Takes a line; returns the entry when it is whole. A line may hold several where it was pasted. */
  add(line: string): string | undefined {
    if (this.#block !== undefined) return this.#addToBlock(line);
    const fence = this.isOpen ? null : /^\s*```([\w+#.-]*)\s*$/.exec(line);
    if (fence !== null) {
      // A language is for the model to see; the fence alone only holds the lines together.
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

  /** The entry as far as it has come; undefined where there is none. */
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
