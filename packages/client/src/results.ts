// Renderings of a tool's result. The raw result is always kept beside them.

/** The text of a result: text blocks as they are, every other block as its JSON; with no blocks at all, `structuredContent`. */
export function renderText(raw: Readonly<Record<string, unknown>>): string {
  const blocks = Array.isArray(raw.content) ? raw.content : [];
  if (blocks.length === 0) return raw.structuredContent === undefined ? "" : JSON.stringify(raw.structuredContent);
  return blocks.map(renderBlock).join("\n");
}

function renderBlock(block: unknown): string {
  if (typeof block === "object" && block !== null) {
    const { type, text } = block as { type?: unknown; text?: unknown };
    if (type === "text" && typeof text === "string") return text;
  }
  return JSON.stringify(block);
}
