// The small parts of every page.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "./icons.js";
import { RequestError } from "./live.js";
import { visible } from "./wording.js";

export type Tone = "ok" | "warn" | "bad" | "info" | "plain";

interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onClick?: () => void;
  readonly kind?: "primary" | "quiet" | "danger";
  readonly small?: boolean;
  readonly disabled?: boolean;
  readonly submit?: boolean;
  readonly icon?: IconName;
  /** For buttons that only show an icon, and to say more than the text does. */
  readonly label?: string;
}

export function Button({ children, onClick, kind, small, disabled, submit, icon, label }: ButtonProps) {
  return (
    <button
      type={submit ? "submit" : "button"}
      class={`button ${kind ?? ""} ${small ? "small" : ""}`}
      disabled={disabled}
      onClick={onClick}
      aria-label={label}
      title={label}
    >
      {icon !== undefined && <Icon name={icon} size={14} />}
      {children}
    </button>
  );
}

/**
 * A button for something that takes a while. It cannot be pressed twice, and a failure is shown beside it.
 */
export function ActionButton({
  run,
  ...props
}: Omit<ButtonProps, "onClick"> & { readonly run: () => Promise<unknown> }) {
  const [isRunning, setRunning] = useState(false);
  const { show } = useToasts();
  const start = () => {
    setRunning(true);
    run()
      .catch((error: unknown) => show(toError(error)))
      .finally(() => setRunning(false));
  };
  return <Button {...props} disabled={props.disabled === true || isRunning} onClick={start} />;
}

export function Badge({ tone = "plain", children }: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** A state at a glance. The word beside it says the same. */
export function Dot({ tone, beating, hollow }: { tone: Tone; beating?: boolean; hollow?: boolean }) {
  return <span class={`dot ${tone} ${beating ? "beating" : ""} ${hollow ? "hollow" : ""}`} aria-hidden="true" />;
}

export function Notice({ tone = "info", children }: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return (
    <div class={`notice ${tone}`} role={tone === "bad" ? "alert" : "status"}>
      <div class="breakable">{children}</div>
    </div>
  );
}

/** What failed, and what to do about it. */
export function ErrorNotice({ error, retry }: { readonly error: Error; readonly retry?: () => void }) {
  return (
    <Notice tone="bad">
      {visible(error.message)}
      {error instanceof RequestError && error.hint !== undefined && <span class="hint">{visible(error.hint)}</span>}
      {retry !== undefined && (
        <div class="buttons left">
          <Button small onClick={retry}>
            Try again
          </Button>
        </div>
      )}
    </Notice>
  );
}

/** Shown instead of a list that is empty: what would be here, and how it gets here. */
export function Empty(props: {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
  /** A command to run in a terminal. */
  readonly command?: string;
}) {
  return (
    <div class="empty">
      <Icon name={props.icon} size={40} />
      <h2>{props.title}</h2>
      {props.children !== undefined && <div>{props.children}</div>}
      {props.command !== undefined && (
        <div class="command">
          <Code text={props.command} copy />
        </div>
      )}
    </div>
  );
}

/** Shown while the first answer is awaited. */
export function Loading({ lines = 6 }: { readonly lines?: number }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => (
        <i key={index} />
      ))}
    </div>
  );
}

/** A text of a server, a document or a command. Hidden characters are made visible, and nothing in it is markup. */
export function Code({ text, copy, class: more }: { readonly text: string; readonly copy?: boolean; class?: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard
    <pre class={`code ${copy ? "with-copy" : ""} ${more ?? ""}`} tabIndex={0}>
      {visible(text)}
      {copy && (
        <span class="copy">
          <CopyButton text={text} />
        </span>
      )}
    </pre>
  );
}

const COPIED_MS = 1_500;

export function CopyButton({ text, label = "Copy" }: { readonly text: string; readonly label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => {
    void navigator.clipboard.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), COPIED_MS);
    });
  };
  return (
    <Button small kind="quiet" icon={isCopied ? "check" : "copy"} onClick={copy}>
      {isCopied ? "Copied" : label}
    </Button>
  );
}

/** A search field. `/` focuses it. */
export function SearchField(props: {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly placeholder: string;
}) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "/" || isTyping(event)) return;
      event.preventDefault();
      field.current?.select();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  return (
    <search class="search">
      <Icon name="search" size={14} />
      <input
        ref={field}
        type="search"
        value={props.value}
        placeholder={props.placeholder}
        aria-label={props.placeholder}
        onInput={(event) => props.onInput(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
      <kbd>/</kbd>
    </search>
  );
}

/** Whether keys go into a field. */
export function isTyping(event: KeyboardEvent): boolean {
  const { target } = event;
  const isField = target instanceof HTMLElement && /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  return isField || event.ctrlKey || event.metaKey || event.altKey;
}

/** A few choices, one of which counts. */
export function Choice<Value extends string>(props: {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly onChange: (value: Value) => void;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out inline
    <div class="choice" role="group" aria-label={props.label}>
      {props.options.map(({ value, label }) => (
        <button type="button" key={value} aria-pressed={value === props.value} onClick={() => props.onChange(value)}>
          {label}
        </button>
      ))}
    </div>
  );
}

/** A labelled field of a form. `children` gets the id for the input. */
export function Field(props: {
  readonly label: string;
  readonly help?: string;
  readonly wrong?: string;
  readonly required?: boolean;
  readonly children: (ids: { id: string; "aria-describedby"?: string }) => JSX.Element;
}) {
  const id = useId();
  const { label, help, wrong, required } = props;
  const describing = help === undefined && wrong === undefined ? {} : { "aria-describedby": `${id}-help` };
  return (
    <div class="field">
      <label for={id}>
        {visible(label)}
        {required && (
          <span class="required" title="required">
            {" "}
            *
          </span>
        )}
      </label>
      {props.children({ id, ...describing })}
      {(help !== undefined || wrong !== undefined) && (
        <div id={`${id}-help`}>
          {wrong !== undefined && <div class="wrong">{wrong}</div>}
          {help !== undefined && <div class="help breakable">{visible(help)}</div>}
        </div>
      )}
    </div>
  );
}

/** The head of a page: its name, what it shows, and what can be done. */
export function PageHead(props: {
  readonly title: string;
  readonly about?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  return (
    <header class="page-head">
      <h1>{props.title}</h1>
      {props.about !== undefined && <span class="about">{props.about}</span>}
      <div class="actions">{props.children}</div>
    </header>
  );
}

/** Details beside a list. Escape closes them. */
export function Details(props: {
  readonly title: string;
  readonly onClose: () => void;
  readonly badge?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !isTyping(event) && document.querySelector("dialog[open]") === null)
        props.onClose();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [props.onClose]);
  return (
    <section class="details" aria-label={props.title}>
      <header>
        <h2>{visible(props.title)}</h2>
        {props.badge}
        <Button kind="quiet" small icon="close" label="Close details (Esc)" onClick={props.onClose}>
          {""}
        </Button>
      </header>
      {props.children}
    </section>
  );
}

/** A window over the page. Escape and the button close it. */
export function Window(props: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const window = useRef<HTMLDialogElement>(null);
  useEffect(() => window.current?.showModal(), []);
  return (
    <dialog ref={window} class="window" aria-label={props.title} onClose={props.onClose}>
      <header>
        <h2>{props.title}</h2>
        <Button kind="quiet" small icon="close" label="Close" onClick={props.onClose}>
          {""}
        </Button>
      </header>
      <div class="content">{props.children}</div>
    </dialog>
  );
}

/** Names and values, in two columns. Absent values are left out. */
export function Facts({ rows }: { readonly rows: readonly (readonly [string, ComponentChildren])[] }) {
  const shown = rows.filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false);
  return (
    <dl class="facts">
      {shown.map(([name, value]) => [<dt key={`${name}-name`}>{name}</dt>, <dd key={name}>{value}</dd>])}
    </dl>
  );
}

/** Recent values as a small line. */
export function Sparkline({ values, label }: { readonly values: readonly number[]; readonly label: string }) {
  if (values.length < 2) return null;
  const [width, height] = [72, 20];
  const most = Math.max(...values, 1);
  const points = values.map((value, index) => {
    const x = (index / (values.length - 1)) * (width - 2) + 1;
    return `${x.toFixed(1)},${(height - 2 - (value / most) * (height - 4)).toFixed(1)}`;
  });
  return (
    <svg class="spark" width={width} height={height} role="img" aria-label={label}>
      <title>{label}</title>
      <polyline points={points.join(" ")} fill="none" stroke="currentColor" stroke-width="1.5" />
    </svg>
  );
}

interface DiffRow {
  readonly sign: " " | "+" | "-";
  readonly field?: string;
  readonly text: string;
}

export function Diff({ lines }: { readonly lines: readonly DiffRow[] }) {
  return (
    <div class="diff">
      {lines.map(({ sign, field, text }, index) => (
        <div key={index} class={sign === "+" ? "added" : sign === "-" ? "removed" : ""}>
          {sign} {field !== undefined && <span class="field-name">{visible(field)}: </span>}
          {visible(text)}
        </div>
      ))}
    </div>
  );
}

interface Toast {
  readonly id: number;
  readonly tone: Tone;
  readonly text: string;
  readonly hint?: string;
  readonly action?: ToastAction;
}

/** Something to do about it, such as to undo it. */
interface ToastAction {
  readonly label: string;
  readonly run: () => Promise<unknown>;
}

const TOAST_MS = 8_000;
let nextToast = 1;
let toasts: readonly Toast[] = [];
const toastListeners = new Set<() => void>();

function setToasts(change: (now: readonly Toast[]) => readonly Toast[]): void {
  toasts = change(toasts);
  for (const listener of toastListeners) listener();
}

/** Shows short messages that go away by themselves: what was done, and what failed. */
function useToasts() {
  return { show: showToast };
}

export function showToast(what: Error | string, action?: ToastAction): void {
  const id = nextToast++;
  const isError = what instanceof Error;
  const text = isError ? what.message : what;
  const hint = what instanceof RequestError ? what.hint : undefined;
  setToasts((now) => [...now.slice(-3), { id, tone: isError ? "bad" : "ok", text, hint, action }]);
  setTimeout(() => setToasts((now) => now.filter((toast) => toast.id !== id)), TOAST_MS);
}

export function Toasts() {
  const [, setTurn] = useState(0);
  useEffect(() => {
    const listener = () => setTurn((turn) => turn + 1);
    toastListeners.add(listener);
    return () => void toastListeners.delete(listener);
  }, []);
  return (
    <div class="toasts" aria-live="polite">
      {toasts.map(({ id, tone, text, hint, action }) => (
        <div key={id} class="toast" role={tone === "bad" ? "alert" : "status"}>
          <Dot tone={tone} />
          <div class="what">
            {visible(text)}
            {hint !== undefined && <div class="dim">{visible(hint)}</div>}
          </div>
          {action !== undefined && (
            <ActionButton
              small
              run={async () => {
                await action.run();
                setToasts((now) => now.filter((toast) => toast.id !== id));
              }}
            >
              {action.label}
            </ActionButton>
          )}
          <Button
            small
            kind="quiet"
            icon="close"
            label="Dismiss"
            onClick={() => setToasts((now) => now.filter((toast) => toast.id !== id))}
          >
            {""}
          </Button>
        </div>
      ))}
    </div>
  );
}

export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
