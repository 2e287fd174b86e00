/** An entry, its best cosine, the passage with that cosine, and how many passages the entry has. */
export interface SemanticHit {
  readonly entry: number;
  readonly score: number;
  readonly passage: number;
  readonly passages: number;
}
