/** Computes the mean of all rows of a row-major matrix. */
export function meanPool(rows: Float32Array, dimensions: number): Float32Array<ArrayBuffer> {
  const mean = new Float32Array(dimensions);
  const count = rows.length / dimensions;
  for (let column = 0; column < dimensions; column++) {
    let sum = 0;
    for (let at = column; at < rows.length; at += dimensions) sum += rows[at] ?? 0;
    mean[column] = sum / count;
  }
  return mean;
}

/** Scales a vector in place to length 1, so a dot product is a cosine. Zero stays zero. */
export function toUnitLength<T extends Float32Array>(vector: T): T {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares);
  if (length > 0) for (let at = 0; at < vector.length; at++) vector[at] = (vector[at] ?? 0) / length;
  return vector;
}

/** Keeps the first numbers of a vector and rescales them to length 1. */
export function shortened(vector: Float32Array, dimensions: number): Float32Array {
  return toUnitLength(vector.slice(0, dimensions));
}
