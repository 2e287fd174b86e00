// Reads a server's form (`requestedSchema` of an elicitation) into typed fields.
import { isRecord } from "@trunkline/core";
import { validateField } from "./form-check.js";
import { type FieldCommon, type FieldOption, type FormField, isFieldValue, type TextFormat } from "./form-fields.js";

const FORMATS: readonly string[] = ["email", "uri", "date", "date-time"] satisfies TextFormat[];

/** Reads a form's fields in the server's order. Drops a default that its own field does not allow. */
export function readFormFields(requestedSchema: Readonly<Record<string, unknown>>): readonly FormField[] {
  const { properties, required } = requestedSchema;
  if (!isRecord(properties)) return [];
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, schema]) => {
    const field = readField(schema, {
      name,
      title: textOf(schema, "title") ?? name,
      ...optional("description", textOf(schema, "description")),
      required: names.includes(name),
    });
    const preset = isRecord(schema) ? schema.default : undefined;
    // The check establishes the type of the default, but the compiler cannot see that.
    return isFieldValue(preset) && validateField(field, preset) === undefined
      ? ({ ...field, default: preset } as FormField)
      : field;
  });
}

function readField(schema: unknown, common: FieldCommon): FormField {
  if (!isRecord(schema)) return { ...common, kind: "other", schema };
  const type = soleType(schema.type);
  const options = optionsOf(schema);
  if (options !== undefined && (type === "string" || type === undefined)) return { ...common, kind: "choice", options };
  switch (type) {
    case "string":
      return {
        ...common,
        kind: "text",
        ...optional("minLength", numberOf(schema.minLength)),
        ...optional("maxLength", numberOf(schema.maxLength)),
        ...optional("format", isTextFormat(schema.format) ? schema.format : undefined),
      };
    case "number":
    case "integer":
      return {
        ...common,
        kind: "number",
        integer: type === "integer",
        ...optional("minimum", numberOf(schema.minimum)),
        ...optional("maximum", numberOf(schema.maximum)),
      };
    case "boolean":
      return { ...common, kind: "boolean" };
    case "array": {
      const items = isRecord(schema.items) ? optionsOf(schema.items) : undefined;
      if (items === undefined) break;
      return {
        ...common,
        kind: "choices",
        options: items,
        ...optional("minItems", numberOf(schema.minItems)),
        ...optional("maxItems", numberOf(schema.maxItems)),
      };
    }
  }
  return { ...common, kind: "other", schema };
}

/** `["string", "null"]` is text that can be omitted, like every optional field. */
function soleType(type: unknown): unknown {
  if (!Array.isArray(type)) return type;
  const types = type.filter((name) => name !== "null");
  return types.length === 1 ? types[0] : types;
}

/** Reads the options, in every spelling the revisions use. */
function optionsOf(schema: Readonly<Record<string, unknown>>): readonly FieldOption[] | undefined {
  const titled = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(titled) && titled.length > 0) {
    const options = titled.flatMap((option: unknown) =>
      isRecord(option) && typeof option.const === "string"
        ? [{ value: option.const, title: textOf(option, "title") ?? option.const }]
        : [],
    );
    return options.length === titled.length ? options : undefined;
  }
  const values: unknown = schema.enum;
  if (!Array.isArray(values) || values.length === 0 || !values.every((value) => typeof value === "string")) {
    return undefined;
  }
  const titles: readonly unknown[] = Array.isArray(schema.enumNames) ? schema.enumNames : [];
  return values.map((value, index) => {
    const title = titles[index];
    return { value, title: typeof title === "string" && title !== "" ? title : value };
  });
}

function isTextFormat(value: unknown): value is TextFormat {
  return typeof value === "string" && FORMATS.includes(value);
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function textOf(schema: unknown, key: "title" | "description"): string | undefined {
  const text = isRecord(schema) ? schema[key] : undefined;
  return typeof text === "string" && text.trim() !== "" ? text : undefined;
}

/** Creates a property that is present only if it has a value. */
function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  // The computed key is K; the compiler widens it to string.
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
}
