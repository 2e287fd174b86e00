// A long text of numbered lines, all different, so that a missing or repeated piece is noticed. Each `seed` produces a
// different text, so a store that has seen one has not seen the next.

/** @param {number} bytes @param {number} seed */
export function bigText(bytes, seed) {
  /** @type {string[]} */
  const lines = [];
  for (let length = 0, line = 1; length < bytes; line += 1) {
    const text = `${line}: order ${(line * 7919 + seed) % 100_003} of customer ${(line * 104_729) % 9_973} was sent on time.\n`;
    lines.push(text);
    length += text.length;
  }
  return lines.join("").slice(0, bytes);
}
