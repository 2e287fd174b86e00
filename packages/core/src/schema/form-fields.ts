// The fields of a form, independent of how they are shown: in a terminal, on a web page, by a bot.

/** The values the protocol allows in a field of an elicitation. */
export type FieldValue = string | number | boolean | readonly string[];

/** One option and its title for the user. */
export interface FieldOption<V = string> {
  readonly value: V;
  readonly title: string;
}

/** The text formats the protocol defines. */
export type TextFormat = "email" | "uri" | "date" | "date-time";

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
  readonly pattern?: string;
  readonly default?: string;
}

export interface NumberField extends FieldCommon {
  readonly kind: "number";
  readonly integer: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  /** Bounds that are not allowed themselves. */
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly default?: number;
}

interface BooleanField extends FieldCommon {
  readonly kind: "boolean";
  readonly default?: boolean;
}

/** Exactly one of several options. */
interface ChoiceField<V = string> extends FieldCommon {
  readonly kind: "choice";
  readonly options: readonly FieldOption<V>[];
  readonly default?: V;
}

interface ListLimits {
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** Any number of several options. */
export interface ChoicesField<V = string> extends FieldCommon, ListLimits {
  readonly kind: "choices";
  readonly options: readonly FieldOption<V>[];
  readonly default?: readonly V[];
}

/** A type the protocol does not define: shown with its schema, answered with JSON or plain text. */
interface OtherField extends FieldCommon {
  readonly kind: "other";
  readonly schema: unknown;
  readonly default?: FieldValue;
}

/** A list of texts or numbers. */
interface ListField extends FieldCommon, ListLimits {
  readonly kind: "list";
  readonly item: TextField | NumberField;
  readonly default?: readonly unknown[];
}

/** An object with fields of its own. */
interface GroupField extends FieldCommon {
  readonly kind: "group";
  readonly fields: readonly ArgumentField[];
  readonly default?: unknown;
}

/** Anything else: entered as JSON. */
interface JsonField extends FieldCommon {
  readonly kind: "json";
  readonly default?: unknown;
}

/** A field of an elicitation. These forms are flat. */
export type FormField = TextField | NumberField | BooleanField | ChoiceField | ChoicesField | OtherField;

/** A field for an argument of a tool. */
export type ArgumentField =
  | TextField
  | NumberField
  | BooleanField
  | ChoiceField<unknown>
  | ChoicesField<unknown>
  | ListField
  | GroupField
  | JsonField;

/** Whether a field of an elicitation can hold this value. */
export function isFieldValue(value: unknown): value is FieldValue {
  if (Array.isArray(value)) return value.every((item) => typeof item === "string");
  return (
    typeof value === "string" || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))
  );
}
