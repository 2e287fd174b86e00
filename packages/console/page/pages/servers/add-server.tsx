// Adds a server: what it is, then what will be written, then done.
import type { AddedServer, NewServer } from "@trunkline/console/contract";
import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../../kit/live.js";
import {
  ActionButton,
  Button,
  Choice,
  Code,
  ErrorNotice,
  Field,
  Notice,
  showToast,
  toError,
  Window,
} from "../../kit/parts.js";
import { visible } from "../../kit/wording.js";

interface Form {
  readonly kind: "command" | "url";
  readonly name: string;
  readonly command: string;
  readonly args: string;
  readonly env: string;
  readonly url: string;
  readonly headers: string;
  readonly scope: "user" | "project";
}

const EMPTY: Form = { kind: "command", name: "", command: "", args: "", env: "", url: "", headers: "", scope: "user" };

export function AddServer(props: {
  readonly workspace: string;
  readonly onClose: () => void;
  readonly onAdded: (name: string) => void;
}) {
  const { workspace, onClose, onAdded } = props;
  const [form, setForm] = useState(EMPTY);
  const [error, setError] = useState<Error>();
  const [review, setReview] = useState<AddedServer>();
  const set = (change: Partial<Form>) => {
    setForm((before) => ({ ...before, ...change }));
    setError(undefined);
  };
  const check = async () => {
    try {
      setReview(await ask("servers/add", { workspace, server: readForm(form), dryRun: true }));
      setError(undefined);
    } catch (problem) {
      setError(toError(problem));
    }
  };
  const add = async () => {
    try {
      const { file } = await ask("servers/add", { workspace, server: readForm(form) });
      showToast(`Added ${form.name.trim()} to ${file}.`);
      onAdded(form.name.trim());
    } catch (problem) {
      setReview(undefined);
      setError(toError(problem));
    }
  };
  const fields = useRef<HTMLFormElement>(null);
  useEffect(() => fields.current?.querySelector("input")?.focus(), [review]);
  if (review !== undefined) {
    return (
      <Window title="Add server" onClose={onClose}>
        <p class="breakable">
          This will be written to <span class="mono">{visible(review.file)}</span>:
        </p>
        <Code class="server-entry" text={review.entry} />
        {review.notes.map((note) => (
          <Notice key={note} tone="warn">
            {visible(note)}
          </Notice>
        ))}
        {form.kind === "command" && (
          <p class="dim server-note">The command runs as you, when the server is first used.</p>
        )}
        <div class="buttons">
          <Button onClick={() => setReview(undefined)}>Back</Button>
          <ActionButton kind="primary" icon="plus" run={add}>
            Add server
          </ActionButton>
        </div>
      </Window>
    );
  }
  return (
    <Window title="Add server" onClose={onClose}>
      <form
        ref={fields}
        onSubmit={(event) => {
          event.preventDefault();
          void check();
        }}
      >
        <div class="field">
          <Choice
            label="Kind of server"
            value={form.kind}
            options={[
              { value: "command", label: "Command" },
              { value: "url", label: "URL" },
            ]}
            onChange={(kind) => set({ kind })}
          />
        </div>
        <Field label="Name" required help="Letters, digits, “_” and “-”. Its tools are called name.tool.">
          {(ids) => <TextInput {...ids} value={form.name} onInput={(name) => set({ name })} />}
        </Field>
        {form.kind === "command" ? <CommandFields form={form} set={set} /> : <UrlFields form={form} set={set} />}
        <div class="field">
          <span class="label">For</span>
          <Choice
            label="For"
            value={form.scope}
            options={[
              { value: "user", label: "All my folders" },
              { value: "project", label: "This project" },
            ]}
            onChange={(scope) => set({ scope })}
          />
          <div class="help">
            {form.scope === "user"
              ? "Saved in your own settings."
              : "Saved in the project’s .trunkline/mcp.json, which everyone in the project shares."}
          </div>
        </div>
        {error !== undefined && <ErrorNotice error={error} />}
        <div class="buttons">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" submit>
            Review
          </Button>
        </div>
      </form>
    </Window>
  );
}

type Fields = { readonly form: Form; readonly set: (change: Partial<Form>) => void };

function CommandFields({ form, set }: Fields) {
  const hasWords = /\s/.test(form.command.trim()) && form.args.trim() === "";
  return (
    <>
      <Field
        label="Command"
        required
        help={hasWords ? "Only the program. Put its arguments below, one on each line." : "Such as npx, uvx or a path."}
      >
        {(ids) => <TextInput {...ids} value={form.command} onInput={(command) => set({ command })} mono />}
      </Field>
      <Field label="Arguments" help="One on each line. No quotes are needed.">
        {(ids) => <TextArea {...ids} value={form.args} onInput={(args) => set({ args })} />}
      </Field>
      <Field label="Environment" help="NAME=value, one on each line. ${NAME} refers to a variable of your own.">
        {(ids) => <TextArea {...ids} value={form.env} onInput={(env) => set({ env })} />}
      </Field>
    </>
  );
}

function UrlFields({ form, set }: Fields) {
  return (
    <>
      <Field label="URL" required help="https://…, or http:// on this machine.">
        {(ids) => <TextInput {...ids} value={form.url} onInput={(url) => set({ url })} mono />}
      </Field>
      <Field label="Headers" help="Name: value, one on each line. Leave it empty to sign in with a browser.">
        {(ids) => <TextArea {...ids} value={form.headers} onInput={(headers) => set({ headers })} />}
      </Field>
    </>
  );
}

interface InputProps {
  readonly id: string;
  readonly "aria-describedby"?: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
}

function TextInput({ onInput, mono, ...rest }: InputProps & { readonly mono?: boolean }) {
  return (
    <input
      {...rest}
      type="text"
      class={mono ? "mono" : ""}
      autocomplete="off"
      spellcheck={false}
      required
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}

function TextArea({ onInput, ...rest }: InputProps) {
  return <textarea {...rest} rows={3} spellcheck={false} onInput={(event) => onInput(event.currentTarget.value)} />;
}

/** Throws if a line of the form is not as it should be. */
function readForm(form: Form): NewServer {
  const common = { name: form.name.trim(), scope: form.scope };
  if (form.kind === "url") {
    const headers = readPairs(form.headers, ":", "A header is “Name: value”.");
    return { ...common, url: form.url.trim(), headers };
  }
  const args = linesOf(form.args);
  const env = readPairs(form.env, "=", "A variable is “NAME=value”.");
  return {
    ...common,
    command: form.command.trim(),
    ...(args.length === 0 ? {} : { args }),
    env,
  };
}

function linesOf(text: string): string[] {
  return text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
}

function readPairs(text: string, separator: string, shape: string): Record<string, string> | undefined {
  const pairs = linesOf(text).map((line): [string, string] => {
    const at = line.indexOf(separator);
    // The line is left out of the message: it may contain a secret.
    if (at < 1) throw new Error(shape);
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  });
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
}
