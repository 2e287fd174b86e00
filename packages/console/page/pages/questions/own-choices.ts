// Trunkline's own questions have one field with a few answers: each of them becomes a button.
import type { Json } from "@trunkline/console/contract";
import { readFormFields } from "@trunkline/core/schema";
import { isObject } from "../../kit/form-values.js";

export interface OwnChoices {
  readonly about?: string | undefined;
  readonly options: readonly {
    readonly label: string;
    readonly content: Readonly<Record<string, Json>>;
    readonly isPrimary: boolean;
  }[];
}

/** Returns undefined for a form that needs more than a choice. */
export function choicesOf(schema: Json): OwnChoices | undefined {
  const [field, ...others] = isObject(schema) ? readFormFields(schema) : [];
  if (field === undefined || others.length > 0) return undefined;
  const { name, title, description: about } = field;
  if (field.kind === "boolean") {
    return {
      about,
      options: [
        { label: title, content: { [name]: true }, isPrimary: true },
        { label: "No", content: { [name]: false }, isPrimary: false },
      ],
    };
  }
  if (field.kind !== "choice") return undefined;
  // The answer that changes nothing comes last, the smallest yes first.
  const ordered = [...field.options].sort((a, b) => Number(a.value === "no") - Number(b.value === "no"));
  return {
    about,
    options: ordered.map((option, index) => ({
      label: option.title,
      content: { [name]: option.value },
      isPrimary: index === 0,
    })),
  };
}
