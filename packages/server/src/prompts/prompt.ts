// A prompt as clients see it, wherever it comes from.

/** What a prompt can be given. Values are always text. */
export interface PromptParameter {
  readonly name: string;
  readonly description?: string | undefined;
  readonly required?: boolean | undefined;
  /** Stands where nothing was given. */
  readonly fallback?: string | undefined;
  /** What its values are, where the store can complete them. */
  readonly values?: "document" | "collection" | "snapshot" | undefined;
}

/** Arguments by name. */
export type PromptArguments = Readonly<Record<string, string>>;

/** A prompt of our own: built in, or a file. */
export interface OwnPrompt {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description: string;
  readonly parameters: readonly PromptParameter[];
  readonly role: "user" | "assistant";
  /** The text with these arguments; required ones are there. */
  render(args: PromptArguments): string;
}

/** As `prompts/list` gives it. */
export function promptDefinition({ name, title, description, parameters }: OwnPrompt): Record<string, unknown> {
  return {
    name,
    ...(title === undefined ? {} : { title }),
    description,
    ...(parameters.length === 0
      ? {}
      : {
          arguments: parameters.map(({ name: parameter, description: about, required = false }) => ({
            name: parameter,
            ...(about === undefined ? {} : { description: about }),
            required,
          })),
        }),
  };
}
