// A prompt as clients see it, regardless of its source.

/** An argument of a prompt. Values are always text. */
export interface PromptParameter {
  readonly name: string;
  readonly description?: string;
  readonly required?: boolean;
  /** Used if no value is given. */
  readonly fallback?: string;
  /** The kind of values the parameter takes, if the store can complete them. */
  readonly values?: "document" | "collection" | "snapshot";
}

export type PromptArguments = Readonly<Record<string, string>>;

/** One of our own prompts: built in, or from a file. */
export interface OwnPrompt {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly parameters: readonly PromptParameter[];
  readonly role: "user" | "assistant";
  /** Returns the text with these arguments, which include all required ones. */
  render(args: PromptArguments): string;
}

/** Builds the definition that `prompts/list` returns. */
export function promptDefinition({ name, title, description, parameters }: OwnPrompt): Record<string, unknown> {
  return {
    name,
    title,
    description,
    ...(parameters.length === 0
      ? {}
      : {
          arguments: parameters.map(({ name: parameter, description: about, required = false }) => ({
            name: parameter,
            description: about,
            required,
          })),
        }),
  };
}
