// Lists of whole numbers that are mostly small: seven bits per byte, lowest first, with the eighth bit set if more follow.

/** Appends a number from 0 to 2^53. */
export function writeNumber(bytes: number[], number: number): void {
  let rest = number;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  bytes.push(rest);
}

/** Returns a function that reads the next number; undefined at the end. */
export function numberReader(bytes: Uint8Array): () => number | undefined {
  let at = 0;
  return () => {
    if (at >= bytes.length) return undefined;
    let number = 0;
    for (let scale = 1; ; scale *= 128) {
      // A valid list never ends within a number.
      const byte = bytes[at++] ?? 0;
      number += (byte & 0x7f) * scale;
      if (byte < 0x80) return number;
    }
  };
}
