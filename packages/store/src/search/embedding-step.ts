/** A text for which the model has no vector yet. */
export interface WaitingText {
  readonly hash: string;
  readonly text: string;
}

/** The model's next step. Pass `through` back with the vectors. */
export interface EmbeddingStep {
  readonly texts: readonly WaitingText[];
  readonly through: number;
  readonly done: boolean;
}
