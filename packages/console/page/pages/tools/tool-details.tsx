import type { Json, ToolDefinition, ToolRow } from "@trunkline/console/contract";
import { useState } from "preact/hooks";
import { JsonTree } from "../../kit/json-tree.js";
import { useAnswer } from "../../kit/live.js";
import { Badge, Button, CopyButton, Details, Dot, ErrorNotice, Facts, Loading, Notice } from "../../kit/parts.js";
import { addressOf } from "../../kit/places.js";
import { type FormValue, SchemaForm } from "../../kit/schema-form.js";
import { ToolResult } from "../../kit/tool-result.js";
import { shownCount, visible } from "../../kit/wording.js";
import { startCall, type ToolCall, useCall } from "./tool-calls.js";

/**
 * Characters that draw nothing or change how others are drawn. A terminal acts on some of them when they are pasted,
 * inside quotes, too; JSON can name them instead.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

interface ToolDetailsProps {
  readonly workspace: string;
  readonly server: string;
  readonly tool: string;
  /** How many questions wait for the person. */
  readonly questions: number;
  readonly onClose: () => void;
}

const FIRST_CHARS = 1_500;

export function ToolDetails({ workspace, server, tool, questions, onClose }: ToolDetailsProps) {
  const { data, error, reload } = useAnswer("tools/definition", { workspace, server, tool }, ["tools"]);
  return (
    <Details
      title={`${server}.${tool}`}
      onClose={onClose}
      badge={data === undefined ? undefined : <Badges row={data} />}
    >
      {error !== undefined && <ErrorNotice error={error} retry={reload} />}
      {data === undefined
        ? error === undefined && <Loading lines={4} />
        : [
            <About key="about" definition={data} />,
            <TryIt key="try" definition={data} workspace={workspace} questions={questions} />,
            <Definition key="definition" definition={data} />,
          ]}
    </Details>
  );
}

export function Badges({ row }: { readonly row: ToolRow }) {
  return (
    <span class="tool-badges">
      {row.blocked !== undefined && <Badge tone="bad">Blocked</Badge>}
      {row.isDestructive && <Badge tone="warn">Destructive</Badge>}
      {row.isReadOnly && <Badge>Read-only</Badge>}
      {row.isRemembered && <Badge>Not connected</Badge>}
    </span>
  );
}

function About({ definition }: { readonly definition: ToolDefinition }) {
  const { title, description, blocked, isRemembered, server } = definition;
  const [limit, setLimit] = useState(FIRST_CHARS);
  return (
    <>
      {title !== undefined && <p class="tool-title">{visible(title)}</p>}
      {description === "" ? (
        <p class="dim">The server does not describe this tool.</p>
      ) : (
        <p class="tool-description">
          {visible(description.slice(0, limit))}
          {description.length > limit && (
            <>
              {"… "}
              <Button small onClick={() => setLimit(limit * 10)}>
                {`Show more (${shownCount(description.length - limit)} characters)`}
              </Button>
            </>
          )}
        </p>
      )}
      {blocked !== undefined && (
        <div class="section">
          <Notice tone="bad">{visible(blocked)}</Notice>
        </div>
      )}
      {isRemembered && (
        <p class="dim section">
          {visible(server)} is not connected. This is what it listed last; a call connects it first.
        </p>
      )}
    </>
  );
}

function TryIt(props: { readonly definition: ToolDefinition; readonly workspace: string; readonly questions: number }) {
  const { definition, workspace, questions } = props;
  const { server, tool, name, inputSchema, isDestructive } = definition;
  const call = useCall({ workspace, server, tool });
  const [asksAgain, setAsksAgain] = useState(false);
  const isRunning = call !== undefined && call.answer === undefined && call.error === undefined;
  const submit = (value: FormValue) => {
    if (isDestructive && !asksAgain) return setAsksAgain(true);
    setAsksAgain(false);
    startCall({ workspace, server, tool }, value, questions);
  };
  return (
    <section class="section" aria-label="Try it">
      <h3>Try it</h3>
      <div class="try">
        <SchemaForm
          schema={inputSchema}
          initial={call?.arguments}
          submitLabel={isRunning ? "Running…" : asksAgain ? "Yes, call it" : "Call"}
          submitKind={asksAgain ? "danger" : "primary"}
          busy={isRunning}
          onEdit={() => setAsksAgain(false)}
          onSubmit={submit}
          buttons={(value) => {
            const command = callCommand(name, value);
            return command === undefined ? null : <CopyButton label="Copy command" text={command} />;
          }}
        />
        {asksAgain && (
          <div class="again">
            <Notice tone="warn">The server says that this tool may destroy something. Call it anyway?</Notice>
          </div>
        )}
      </div>
      {isRunning && <Running call={call} questions={questions} />}
      {call?.error !== undefined && <ErrorNotice error={call.error} />}
      {call?.answer !== undefined && <ToolResult key={call.startedMs} answer={call.answer} />}
    </section>
  );
}

function Running({ call, questions }: { readonly call: ToolCall; readonly questions: number }) {
  const asked = useAnswer("questions", {}, ["questions"]);
  const isAsking =
    asked.data?.questions.some(({ kind, ...rest }) => "client" in rest && rest.client === "console") ??
    questions > call.questions;
  return (
    <div class="running" role="status">
      <Dot tone={isAsking ? "warn" : "info"} beating />
      {isAsking ? (
        <span>
          The call waits for an answer from you. <a href={addressOf("questions")}>Answer it in Questions</a>, then come
          back.
        </span>
      ) : (
        <span>Waiting for the server</span>
      )}
      <Button small onClick={call.cancel}>
        Stop
      </Button>
    </div>
  );
}

const HINTS: readonly (readonly [string, string, string])[] = [
  ["readOnlyHint", "Changes nothing", "Changes things"],
  ["destructiveHint", "May destroy things", "Destroys nothing"],
  ["idempotentHint", "Can be repeated without further effect", "Has an effect each time"],
  ["openWorldHint", "Reaches other systems", "Does not reach other systems"],
];

function Definition({ definition }: { readonly definition: ToolDefinition }) {
  const { tokens, inputSchema, outputSchema, annotations } = definition;
  const said = hintsIn(annotations);
  return (
    <>
      <section class="section">
        <h3>Facts</h3>
        <Facts
          rows={[
            [
              "Server",
              <a key="server" href={addressOf("servers", { server: definition.server })}>
                {visible(definition.server)}
              </a>,
            ],
            ["Signature", <code key="signature">{visible(definition.signature)}</code>],
            ["Token cost", tokens === undefined ? undefined : `${shownCount(tokens)} whenever it is listed`],
            ["Declares", said.length === 0 ? "nothing about what it changes" : said.join(", ")],
          ]}
        />
      </section>
      <section class="section">
        <h3>Arguments</h3>
        <JsonTree value={inputSchema} />
      </section>
      {outputSchema !== undefined && (
        <section class="section">
          <h3>Result</h3>
          <JsonTree value={outputSchema} />
        </section>
      )}
    </>
  );
}

function hintsIn(annotations: Json | undefined): readonly string[] {
  if (typeof annotations !== "object" || annotations === null || Array.isArray(annotations)) return [];
  const given = annotations as Readonly<Record<string, Json>>;
  return HINTS.flatMap(([name, yes, no]) => {
    const value = given[name];
    return typeof value === "boolean" ? [(value ? yes : no).toLowerCase()] : [];
  });
}

// A call as a command for a terminal. The details of a call have the same rules, on the server's side.

/**
 * `trunkline call git.log count:=3`, or with `--input` if the names of arguments are not that simple. Undefined if the
 * tool's name has characters that cannot be pasted.
 */
export function callCommand(name: string, args: FormValue): string | undefined {
  if (hasHidden(name)) return undefined;
  const entries = Object.entries(args);
  const isSimple = entries.every(([key]) => /^[A-Za-z_][\w.-]*$/.test(key));
  const words = isSimple ? entries.map(pairOf) : ["--input", quoted(json(args))];
  return ["trunkline", "call", quoted(name), ...words].join(" ");
}

function hasHidden(text: string): boolean {
  return text.search(HIDDEN) >= 0;
}

function pairOf([key, value]: [string, unknown]): string {
  const isText = typeof value === "string" && !hasHidden(value);
  return isText ? `${key}=${quoted(value)}` : `${key}:=${quoted(json(value))}`;
}

function json(value: unknown): string {
  return JSON.stringify(value).replace(HIDDEN, (character) =>
    character.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
}

/** For POSIX shells. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
