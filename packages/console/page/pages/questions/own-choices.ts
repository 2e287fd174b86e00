// Trunkline's own questions have one field with a few answers: each of them becomes a button.
import type { Json } from "@trunkline/console/contract";

interface OwnChoices {
  readonly about?: string | undefined;
  readonly options: readonly {
    readonly label: string;
    readonly content: Readonly<Record<string, Json>>;
    readonly isPrimary: boolean;
  }[];
}

type Fields = Readonly<Record<string, Json>>;

/** Returns undefined for a form that needs more than a choice. */
export function choicesOf(schema: Json): OwnChoices | undefined {
  const properties = isObject(schema) && isObject(schema.properties) ? Object.entries(schema.properties) : [];
  const [only] = properties;
  if (properties.length !== 1 || only === undefined) return undefined;
  const [name, field] = only;
  if (!isObject(field)) return undefined;
  const about = typeof field.description === "string" ? field.description : undefined;
  if (field.type === "boolean") {
    const yes = typeof field.title === "string" ? field.title : "Yes";
    return {
      about,
      options: [
        { label: yes, content: { [name]: true }, isPrimary: true },
        { label: "No", content: { [name]: false }, isPrimary: false },
      ],
    };
  }
  if (!Array.isArray(field.enum)) return undefined;
  const titles: readonly Json[] = Array.isArray(field.enumNames) ? field.enumNames : [];
  const options = (field.enum as readonly Json[]).map((value, index) => ({
    label: String(titles[index] ?? value),
    content: { [name]: value },
    isNo: value === "no",
  }));
  // The answer that changes nothing comes last, the smallest yes first.
  const ordered = [...options.filter(({ isNo }) => !isNo), ...options.filter(({ isNo }) => isNo)];
  return {
    about,
    options: ordered.map(({ label, content }, index) => ({ label, content, isPrimary: index === 0 })),
  };
}

function isObject(value: Json | undefined): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
