// The fields of a form, independent of how it is shown: in a terminal, on a web page, by a bot.

/** The values the protocol allows in a form field. */
export type FieldValue = string | number | boolean | readonly string[];

/** One option and its title for the user. */
export interface FieldOption {
  readonly value: string;
  readonly title: string;
}

/** The text formats the protocol defines. */
export type TextFormat = "email" | "uri" | "date" | "date-time";

/** Common to all fields. */
export interface FieldCommon {
  /** The key of the answer. */
  readonly name: string;
  /** The name shown to the user: the schema's title, or the key. */
  readonly title: string;
  readonly description?: string;
  readonly required: boolean;
}

export interface TextField extends FieldCommon {
  readonly kind: "text";
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: TextFormat;
  readonly default?: string;
}

export interface NumberField extends FieldCommon {
  readonly kind: "number";
  readonly integer: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
}

interface BooleanField extends FieldCommon {
  readonly kind: "boolean";
  readonly default?: boolean;
}

/** Exactly one of several options. */
interface ChoiceField extends FieldCommon {
  readonly kind: "choice";
  readonly options: readonly FieldOption[];
  readonly default?: string;
}

/** Any number of several options. */
export interface ChoicesField extends FieldCommon {
  readonly kind: "choices";
  readonly options: readonly FieldOption[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: readonly string[];
}

/** A type the protocol does not define: shown with its schema, answered with JSON or plain text. */
interface OtherField extends FieldCommon {
  readonly kind: "other";
  readonly schema: unknown;
  readonly default?: FieldValue;
}

export type FormField = TextField | NumberField | BooleanField | ChoiceField | ChoicesField | OtherField;

/** Whether a field can hold this value. */
export function isFieldValue(value: unknown): value is FieldValue {
  if (Array.isArray(value)) return value.every((item) => typeof item === "string");
  return (
    typeof value === "string" || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))
  );
}
