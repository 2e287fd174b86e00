// A form made from a JSON Schema. Everything in the schema is a server's text. The whole form can be switched to JSON,
// and is only JSON if the schema cannot be shown as fields.
import "./schema-form.css";
import type { Json } from "@trunkline/console/contract";
import { type ArgumentField, missingArguments, readArgumentFields } from "@trunkline/core/schema";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import {
  type Draft,
  draftIn,
  draftOf,
  enteredIn,
  type FieldWith,
  type GroupDraft,
  groupOf,
  isObject,
  jsonIn,
  listOf,
  type Mistakes,
} from "./form-values.js";
import { Button, Field } from "./parts.js";
import { visible } from "./wording.js";

export type FormValue = Readonly<Record<string, Json>>;

interface SchemaFormProps {
  /** The JSON Schema of an object. */
  readonly schema: Json;
  readonly submitLabel: string;
  /** Called with a value that fits the schema as far as the form can tell. */
  readonly onSubmit: (value: FormValue) => void;
  /** Values to begin with. Default: those that the schema presets. */
  readonly initial?: FormValue;
  readonly submitKind?: "primary" | "danger";
  /** Nothing can be submitted at the moment. */
  readonly busy?: boolean;
  /** Called when something was entered. */
  readonly onEdit?: () => void;
  /** Further buttons. Gets the value as it is entered, whether it is complete or not. */
  readonly buttons?: (value: FormValue) => ComponentChildren;
}

const PLAIN_JSON = "The arguments as JSON";

export function SchemaForm(props: SchemaFormProps) {
  const { schema, initial, onEdit } = props;
  const fields = useMemo(() => readArgumentFields(schema), [schema]);
  const [draft, setDraft] = useState<GroupDraft>(() => draftOf(fields ?? [], initial ?? {}, initial === undefined));
  /** The text of the whole form as JSON, while it is shown as that. */
  const [text, setText] = useState<string | undefined>(() =>
    fields === undefined ? JSON.stringify(initial ?? {}, null, 2) : undefined,
  );
  const [mistakes, setMistakes] = useState<Mistakes>({});
  const form = useRef<HTMLFormElement>(null);
  const entered = text === undefined ? enteredIn(fields ?? [], draft) : enteredAsJson(text, schema);
  useEffect(() => {
    if (Object.keys(mistakes).length > 0) form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [mistakes]);
  const edit = (change: () => void) => {
    change();
    setMistakes({});
    onEdit?.();
  };
  const submit = (event: Event) => {
    event.preventDefault();
    setMistakes(entered.mistakes);
    if (Object.keys(entered.mistakes).length === 0 && props.busy !== true) props.onSubmit(entered.value);
  };
  const showFields = () => {
    const value = jsonIn(text ?? "");
    if (!isObject(value)) return setMistakes({ [PLAIN_JSON]: "This is not a JSON object." });
    const shown = draftOf(fields ?? [], value, false);
    // Switching must not change the value.
    if (!isSame(enteredIn(fields ?? [], shown).value, value))
      return setMistakes({
        [PLAIN_JSON]: "The form cannot show this value: it has fields or types that the form does not have.",
      });
    setDraft(shown);
    setText(undefined);
    setMistakes({});
  };
  const showJson = () => {
    setText(JSON.stringify(entered.value, null, 2));
    setMistakes({});
  };
  return (
    <form ref={form} class="schema-form" noValidate onSubmit={submit}>
      {text !== undefined ? (
        <Field label={PLAIN_JSON} wrong={mistakes[PLAIN_JSON]}>
          {(ids) => (
            <textarea
              {...ids}
              class="json"
              spellcheck={false}
              rows={Math.min(20, Math.max(6, text.split("\n").length + 1))}
              value={text}
              aria-invalid={mistakes[PLAIN_JSON] === undefined ? undefined : true}
              onInput={({ currentTarget: { value } }) => edit(() => setText(value))}
            />
          )}
        </Field>
      ) : (
        <>
          {fields?.length === 0 && <p class="dim">No arguments.</p>}
          <Fields
            fields={fields ?? []}
            draft={draft}
            mistakes={mistakes}
            onChange={(change) => edit(() => setDraft(change))}
          />
        </>
      )}
      <div class="buttons left">
        <Button submit kind={props.submitKind ?? "primary"} disabled={props.busy}>
          {props.submitLabel}
        </Button>
        {fields !== undefined && (
          <Button kind="quiet" onClick={text === undefined ? showJson : showFields}>
            {text === undefined ? "Edit as JSON" : "Show the form"}
          </Button>
        )}
        {props.buttons?.(entered.value)}
      </div>
    </form>
  );
}

/** Reads the whole form as JSON. The rest of the schema is left to the server. */
function enteredAsJson(text: string, schema: Json): { value: FormValue; mistakes: Mistakes } {
  const value = jsonIn(text);
  if (value === undefined) return { value: {}, mistakes: { [PLAIN_JSON]: "This is not valid JSON." } };
  if (!isObject(value)) return { value: {}, mistakes: { [PLAIN_JSON]: "This must be an object: {…}" } };
  const missing = isObject(schema) ? missingArguments(value, schema) : [];
  return {
    value,
    mistakes: missing.length === 0 ? {} : { [PLAIN_JSON]: `Missing: ${visible(missing.slice(0, 10).join(", "))}` },
  };
}

/** Whether two values are the same, whatever the order of their fields. */
function isSame(a: Json, b: Json): boolean {
  if (!isObject(a) || !isObject(b)) {
    if (!Array.isArray(a) || !Array.isArray(b)) return a === b;
    return a.length === b.length && a.every((item: Json, index: number) => isSame(item, b[index] as Json));
  }
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSame(a[name] as Json, b[name] as Json))
  );
}

function Fields(props: {
  readonly fields: readonly ArgumentField[];
  readonly draft: GroupDraft;
  readonly mistakes: Mistakes;
  readonly path?: string;
  readonly onChange: (draft: GroupDraft) => void;
}) {
  const { fields, draft, mistakes, path, onChange } = props;
  return (
    <>
      {fields.map((field) => (
        <FormEntry
          key={field.name}
          field={field}
          path={path === undefined ? field.name : `${path}.${field.name}`}
          draft={draftIn(draft, field.name)}
          mistakes={mistakes}
          onChange={(change) => onChange({ ...draft, [field.name]: change })}
        />
      ))}
    </>
  );
}

interface EntryProps {
  readonly field: ArgumentField;
  readonly path: string;
  readonly draft: Draft;
  readonly mistakes: Mistakes;
  readonly onChange: (draft: Draft) => void;
}

function FormEntry({ field, path, draft, mistakes, onChange }: EntryProps) {
  const wrong = mistakes[path];
  switch (field.kind) {
    case "boolean":
      return <Flag field={field} draft={draft} onChange={onChange} />;
    case "group":
      return (
        <Group field={field} wrong={wrong}>
          <Fields
            fields={field.fields}
            path={path}
            draft={groupOf(draft)}
            mistakes={mistakes}
            onChange={(change) => onChange(change)}
          />
        </Group>
      );
    case "choices":
      return (
        <Group field={field} wrong={wrong}>
          {field.options.map((option, index) => (
            <Tick
              key={index}
              label={cut(option.title, MAX_LABEL_CHARS)}
              checked={listOf(draft).includes(String(index))}
              onChange={(isOn) => {
                const others = listOf(draft).filter((each) => each !== String(index));
                onChange(isOn ? [...others, String(index)] : others);
              }}
            />
          ))}
        </Group>
      );
    case "list":
      return <List field={field} path={path} draft={draft} mistakes={mistakes} onChange={onChange} />;
    default:
      return (
        <Field label={labelFor(field)} help={helpWithBounds(field)} wrong={wrong} required={field.required}>
          {(ids) => <Input ids={ids} field={field} draft={draft} isWrong={wrong !== undefined} onChange={onChange} />}
        </Field>
      );
  }
}

const MAX_LABEL_CHARS = 120;
const MAX_HELP_CHARS = 600;

function labelFor({ title }: ArgumentField): string {
  return cut(title, MAX_LABEL_CHARS);
}

function helpFor({ description }: ArgumentField): string | undefined {
  return description === undefined ? undefined : cut(description, MAX_HELP_CHARS);
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars)}…`;
}

/** What a server says about a field, and what it does not say: its bounds. */
function helpWithBounds(field: ArgumentField): string | undefined {
  const lines = [helpFor(field), boundsIn(field)].filter((line) => line !== undefined);
  return lines.length === 0 ? undefined : lines.join("\n");
}

function boundsIn(field: ArgumentField): string | undefined {
  if (field.kind === "json") return "JSON";
  if (field.kind !== "number") return undefined;
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below } = field;
  const low = minimum !== undefined ? `from ${minimum}` : above !== undefined ? `more than ${above}` : undefined;
  const high = maximum !== undefined ? `to ${maximum}` : below !== undefined ? `less than ${below}` : undefined;
  if (low === undefined && high === undefined) return undefined;
  const text = low === undefined ? `up ${high}` : high === undefined ? low : `${low} ${high}`;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A text that may be longer than this gets several lines. */
const LINE_CHARS = 200;
const LONG_NAMES = /^(?:body|code|content|contents|html|instructions|markdown|message|prompt|script|sql|text)$/i;

function isLong({ name, format, maxLength, default: preset }: FieldWith<"text">): boolean {
  if (format !== undefined) return false;
  return (maxLength === undefined ? LONG_NAMES.test(name) : maxLength > LINE_CHARS) || preset?.includes("\n") === true;
}

interface InputProps {
  readonly ids: { readonly id?: string; readonly "aria-describedby"?: string; readonly "aria-label"?: string };
  readonly field: FieldWith<"text" | "number" | "choice" | "json">;
  readonly draft: Draft;
  readonly isWrong: boolean;
  readonly onChange: (draft: Draft) => void;
}

function Input({ ids, field, draft, isWrong, onChange }: InputProps): JSX.Element {
  const value = typeof draft === "string" ? draft : "";
  const common = {
    ...ids,
    value,
    "aria-required": field.required || undefined,
    "aria-invalid": isWrong || undefined,
  };
  if (field.kind === "choice") {
    return (
      <select {...common} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">{field.required ? "Choose…" : "–"}</option>
        {field.options.map((option, index) => (
          <option key={index} value={String(index)}>
            {visible(cut(option.title, MAX_LABEL_CHARS))}
          </option>
        ))}
      </select>
    );
  }
  const onInput = ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
    onChange(currentTarget.value);
  if (field.kind === "json" || (field.kind === "text" && isLong(field))) {
    return (
      <textarea
        {...common}
        class={field.kind === "json" ? "json" : "prose"}
        spellcheck={field.kind !== "json"}
        rows={field.kind === "json" ? 4 : 3}
        onInput={onInput}
      />
    );
  }
  if (field.kind === "number") {
    // An input for numbers would hide what was entered if it is not a number.
    return <input {...common} type="text" inputMode={field.integer ? "numeric" : "decimal"} onInput={onInput} />;
  }
  switch (field.format) {
    case "date":
      return <input {...common} type="date" onInput={onInput} />;
    case "date-time":
      return <input {...common} type="datetime-local" onInput={onInput} />;
    // A mistake is reported by the form, so email addresses and URLs are texts.
    default:
      return <input {...common} type="text" autocomplete="off" onInput={onInput} />;
  }
}

function Flag({ field, draft, onChange }: Pick<EntryProps, "field" | "draft" | "onChange">) {
  return (
    <div class="field">
      <Tick label={labelFor(field)} checked={draft === true} help={helpFor(field)} onChange={onChange} />
    </div>
  );
}

function Tick(props: {
  readonly label: string;
  readonly checked: boolean;
  readonly help?: string;
  readonly onChange: (isOn: boolean) => void;
}) {
  const id = useId();
  return (
    <>
      <div class="tick">
        <input
          id={id}
          type="checkbox"
          checked={props.checked}
          aria-describedby={props.help === undefined ? undefined : `${id}-help`}
          onChange={({ currentTarget }) => props.onChange(currentTarget.checked)}
        />
        <label for={id}>{visible(props.label)}</label>
      </div>
      {props.help !== undefined && (
        <div id={`${id}-help`} class="help breakable">
          {visible(props.help)}
        </div>
      )}
    </>
  );
}

/** Several inputs under one name. */
function Group(props: {
  readonly field: ArgumentField;
  readonly wrong?: string;
  readonly children: ComponentChildren;
}) {
  const { field } = props;
  const help = helpFor(field);
  return (
    <fieldset class="field group">
      <legend>
        {visible(labelFor(field))}
        {field.required && (
          <span class="required" title="required">
            {" "}
            *
          </span>
        )}
      </legend>
      {props.wrong !== undefined && (
        <div class="wrong" role="alert">
          {props.wrong}
        </div>
      )}
      {help !== undefined && <div class="help breakable">{visible(help)}</div>}
      {props.children}
    </fieldset>
  );
}

function List(props: EntryProps & { readonly field: FieldWith<"list"> }) {
  const { field, path, mistakes, onChange } = props;
  const items = listOf(props.draft);
  const replaced = (index: number, item: Draft) => items.map((each, at) => (at === index ? item : each));
  return (
    <Group field={field} wrong={mistakes[path]}>
      {items.map((item, index) => (
        <div class="item" key={index}>
          <Input
            ids={{ "aria-label": `${visible(labelFor(field))} ${index + 1}` }}
            field={field.item}
            draft={item}
            isWrong={mistakes[`${path}.${index}`] !== undefined}
            onChange={(change) => onChange(replaced(index, change))}
          />
          <Button
            small
            kind="quiet"
            icon="close"
            label={`Remove ${visible(labelFor(field))} ${index + 1}`}
            onClick={() => onChange(items.filter((_, at) => at !== index))}
          >
            {""}
          </Button>
          {mistakes[`${path}.${index}`] !== undefined && <div class="wrong">{mistakes[`${path}.${index}`]}</div>}
        </div>
      ))}
      <div>
        <Button small icon="plus" label={`Add to ${visible(labelFor(field))}`} onClick={() => onChange([...items, ""])}>
          Add
        </Button>
      </div>
    </Group>
  );
}
