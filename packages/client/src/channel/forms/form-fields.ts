// The fields of a form, whoever shows it: a terminal, a web page, a bot.

/** What a field of a form may hold: the protocol knows nothing else. */
export type FieldValue = string | number | boolean | readonly string[];

/** One thing to choose, and how to call it for a person. */
export interface FieldOption {
  readonly value: string;
  readonly title: string;
}

/** The formats of text that the protocol knows. */
export type TextFormat = "email" | "uri" | "date" | "date-time";

/** What every field has. */
export interface FieldCommon {
  /** The key of the answer. */
  readonly name: string;
  /** The name for a person: the schema's title, or else the key. */
  readonly title: string;
  readonly description?: string;
  readonly required: boolean;
}

/** Free text. */
export interface TextField extends FieldCommon {
  readonly kind: "text";
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: TextFormat;
  readonly default?: string;
}

/** A number, or a whole number. */
export interface NumberField extends FieldCommon {
  readonly kind: "number";
  readonly integer: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
}

/** Yes or no. */
interface BooleanField extends FieldCommon {
  readonly kind: "boolean";
  readonly default?: boolean;
}

/** One of several. */
interface ChoiceField extends FieldCommon {
  readonly kind: "choice";
  readonly options: readonly FieldOption[];
  readonly default?: string;
}

/** Any number of several. */
export interface ChoicesField extends FieldCommon {
  readonly kind: "choices";
  readonly options: readonly FieldOption[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: readonly string[];
}

/** A kind that the protocol does not have: shown with its schema, answered with JSON or plain text. */
interface OtherField extends FieldCommon {
  readonly kind: "other";
  readonly schema: unknown;
  readonly default?: FieldValue;
}

/** One field of a form. */
export type FormField = TextField | NumberField | BooleanField | ChoiceField | ChoicesField | OtherField;

/** Whether a value is one that a field may hold. */
export function isFieldValue(value: unknown): value is FieldValue {
  if (Array.isArray(value)) return value.every((item) => typeof item === "string");
  return (
    typeof value === "string" || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))
  );
}
