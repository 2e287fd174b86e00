// One question. Who asks is the frame, in our words; what they ask is inside it, as text.
import type { Json, QuestionAnswer, QuestionRow } from "@trunkline/console/contract";
import { readFormFields } from "@trunkline/core/schema";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { isObject } from "../../kit/form-values.js";
import { Icon, type IconName } from "../../kit/icons.js";
import { ask } from "../../kit/live.js";
import { ActionButton, Badge, Button, Code, Diff, ErrorNotice, Notice, toError } from "../../kit/parts.js";
import { type FormValue, SchemaForm } from "../../kit/schema-form.js";
import { shownAgo, visible } from "../../kit/wording.js";

interface CardProps<Row = QuestionRow> {
  readonly row: Row;
  readonly nowMs: number;
  readonly answer: (answer: QuestionAnswer) => Promise<void>;
}

type Of<Kind extends QuestionRow["kind"]> = CardProps<Extract<QuestionRow, { kind: Kind }>>;

export function QuestionCard({ row, ...props }: CardProps) {
  switch (row.kind) {
    case "form":
      return <FormCard row={row} {...props} />;
    case "visit":
      return <VisitCard row={row} {...props} />;
    case "sign-in":
      return <SignInCard row={row} {...props} />;
    case "trust":
      return <TrustCard row={row} {...props} />;
    case "held":
      return <HeldCard row={row} {...props} />;
  }
}

function Card(props: {
  readonly row: QuestionRow;
  readonly nowMs: number;
  readonly icon: IconName;
  readonly who: string;
  readonly where: string;
  readonly isOwn?: boolean;
  readonly children: ComponentChildren;
}) {
  const { row, who, where } = props;
  const id = `question-${row.id.replaceAll(/\W/g, "-")}`;
  return (
    <article class={`question ${props.isOwn ? "own" : ""}`} aria-labelledby={id}>
      <header>
        <Icon name={props.icon} />
        <h2 id={id}>
          {visible(who)}
          <span class="dim">{visible(where)}</span>
        </h2>
        <time class="dim" dateTime={row.since}>
          {shownAgo(row.since, props.nowMs)}
        </time>
      </header>
      <div class="content">{props.children}</div>
    </article>
  );
}

function FormCard({ row, nowMs, answer }: Of<"form">) {
  const { isOwn, server, client, folder, message } = row;
  const choices = isOwn ? choicesOf(row.schema) : undefined;
  return (
    <Card
      row={row}
      nowMs={nowMs}
      isOwn={isOwn}
      icon={isOwn ? "shield" : "questions"}
      who={isOwn ? "Trunkline asks for your approval" : `${server} asks`}
      where={`, for ${client} in ${folder}`}
    >
      <p class={`said ${isOwn ? "" : "quoted"}`}>{visible(message)}</p>
      {choices === undefined ? (
        <AnswerForm row={row} answer={answer} />
      ) : (
        <>
          {choices.about !== undefined && <p class="dim breakable">{visible(choices.about)}</p>}
          <div class="buttons left">
            {choices.options.map(({ label, content, isPrimary }) => (
              <ActionButton
                key={label}
                kind={isPrimary ? "primary" : undefined}
                run={() => answer({ action: "accept", content })}
              >
                {visible(label)}
              </ActionButton>
            ))}
          </div>
        </>
      )}
    </Card>
  );
}

function AnswerForm({ row, answer }: Pick<Of<"form">, "row" | "answer">) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const send = (content: FormValue) => {
    setBusy(true);
    answer({ action: "accept", content })
      .then(
        () => setError(undefined),
        (failed: unknown) => setError(toError(failed)),
      )
      .finally(() => setBusy(false));
  };
  return (
    <>
      <SchemaForm
        schema={row.schema}
        submitLabel="Send"
        onSubmit={send}
        busy={isBusy}
        onEdit={() => setError(undefined)}
        buttons={() => <Refusals answer={answer} />}
      />
      {error !== undefined && <ErrorNotice error={error} />}
    </>
  );
}

function Refusals({ answer }: Pick<CardProps, "answer">) {
  return (
    <>
      <ActionButton run={() => answer({ action: "decline" })}>Decline</ActionButton>
      <ActionButton kind="quiet" run={() => answer({ action: "cancel" })}>
        Cancel
      </ActionButton>
    </>
  );
}

function VisitCard({ row, nowMs, answer }: Of<"visit">) {
  const { server, client, folder, message, url, host, isOwn } = row;
  return (
    <Card
      row={row}
      nowMs={nowMs}
      isOwn={isOwn}
      icon="link"
      who={isOwn ? "Trunkline asks you to visit a page" : `${server} asks you to visit a page`}
      where={`, for ${client} in ${folder}`}
    >
      <p class={`said ${isOwn ? "" : "quoted"}`}>{visible(message)}</p>
      <Address host={host} url={url} />
      <div class="buttons left">
        <ActionButton
          kind="primary"
          icon="link"
          run={async () => {
            openPage(url);
            await answer({ action: "accept" });
          }}
        >
          Open {visible(host)}
        </ActionButton>
        <Refusals answer={answer} />
      </div>
    </Card>
  );
}

/** The whole address, because a person has to be able to judge it. */
function Address({ host, url }: { readonly host: string; readonly url: string }) {
  return (
    <div class="address">
      <div>
        The page is at <strong>{visible(host)}</strong>
      </div>
      <Code text={url} copy />
      {/(?:^|\.)xn--/.test(host) && (
        <Notice tone="warn">This host name has letters that may look like others. Check it carefully.</Notice>
      )}
    </div>
  );
}

function SignInCard({ row, nowMs, answer }: Of<"sign-in">) {
  const { server, folder, message, workspace } = row;
  const [page, setPage] = useState<{ url: string; host: string }>();
  return (
    <Card row={row} nowMs={nowMs} isOwn icon="key" who={`${server} needs a sign-in`} where={`, in ${folder}`}>
      {message !== "" && <p class="said">{visible(message)}</p>}
      {page !== undefined && <Address {...page} />}
      <div class="buttons left">
        {page === undefined ? (
          <ActionButton
            kind="primary"
            icon="key"
            run={async () => setPage(await ask("servers/sign-in", { workspace, server }))}
          >
            Sign in
          </ActionButton>
        ) : (
          <Button kind="primary" icon="link" onClick={() => openPage(page.url)}>
            Open {visible(page.host)}
          </Button>
        )}
        <NotNow answer={answer} />
      </div>
    </Card>
  );
}

function TrustCard({ row, nowMs, answer }: Of<"trust">) {
  const { folder, message, files, hash } = row;
  return (
    <Card
      row={row}
      nowMs={nowMs}
      isOwn
      icon="shield"
      who={files.length === 0 ? "Your servers need this workspace approved" : "A project wants to run something"}
      where={`, in ${folder}`}
    >
      <p class="said">{visible(message)}</p>
      {files.map(({ path, wouldRun }) => (
        <div class="would-run" key={path}>
          <code class="breakable">{visible(path)}</code>
          <dl>
            {wouldRun.map(({ name, what }, index) => (
              <div key={index}>
                <dt>{visible(name)}</dt>
                <dd>{visible(what)}</dd>
              </div>
            ))}
          </dl>
        </div>
      ))}
      <div class="buttons left">
        <ActionButton kind="primary" icon="check" run={() => answer({ action: "accept", hash })}>
          {files.length === 0 ? "Approve this workspace" : "Approve"}
        </ActionButton>
        <NotNow answer={answer} />
      </div>
    </Card>
  );
}

function HeldCard({ row, nowMs, answer }: Of<"held">) {
  const { server, kind, name, reasons, diff, hash } = row.definition;
  const what = kind === "instructions" ? "its instructions" : `the ${kind === "tools" ? "tool" : "prompt"} ${name}`;
  return (
    <Card
      row={row}
      nowMs={nowMs}
      isOwn
      icon="shield"
      who={`${server} has changed ${what}`}
      where={`, in ${row.folder}`}
    >
      <div>
        <Badge tone="warn">Held</Badge> It cannot be used until you approve the new definition
        {reasons.length > 0 && `: ${visible(reasons.join("; "))}`}.
      </div>
      {diff.length > 0 && <Diff lines={diff} />}
      <div class="buttons left">
        <ActionButton kind="primary" icon="check" run={() => answer({ action: "accept", hash })}>
          Approve this definition
        </ActionButton>
        <NotNow answer={answer} />
      </div>
    </Card>
  );
}

/** Nothing waits for the answer, so it is only put aside. */
function NotNow({ answer }: Pick<CardProps, "answer">) {
  return (
    <ActionButton kind="quiet" run={() => answer({ action: "decline" })}>
      Not now
    </ActionButton>
  );
}

/** Opens a page that cannot reach back to this one. */
function openPage(url: string): void {
  const { protocol } = new URL(url);
  if (protocol === "https:" || protocol === "http:") window.open(url, "_blank", "noopener,noreferrer");
}

// Trunkline's own questions have one field with a few answers: each of them becomes a button.

interface OwnChoices {
  readonly about?: string;
  readonly options: readonly {
    readonly label: string;
    readonly content: Readonly<Record<string, Json>>;
    readonly isPrimary: boolean;
  }[];
}

/** Returns undefined for a form that needs more than a choice. */
function choicesOf(schema: Json): OwnChoices | undefined {
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
