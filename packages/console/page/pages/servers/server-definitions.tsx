// Definitions of a server that are held, with exactly what would be approved, and those that have changed.
import type { DefinitionRow } from "@trunkline/console/contract";
import { ask, useAnswer } from "../../kit/live.js";
import { ActionButton, Badge, Diff, ErrorNotice, Notice, showToast } from "../../kit/parts.js";
import { counted, shownAgo, visible } from "../../kit/wording.js";

export function Definitions({ server, workspace }: { readonly server: string; readonly workspace: string }) {
  const { data, error, reload } = useAnswer("definitions", { workspace }, ["definitions"]);
  if (error !== undefined) return <ErrorNotice error={error} retry={reload} />;
  const own = (data?.definitions ?? []).filter((definition) => definition.server === server);
  const held = own.filter(({ hash }) => hash !== undefined);
  const past = own.filter(({ hash }) => hash === undefined);
  return (
    <>
      {held.length > 0 && (
        <section class="section" aria-label="Held definitions">
          <h3>Held until you approve</h3>
          {held.map((definition) => (
            <Held key={definition.id} definition={definition} workspace={workspace} />
          ))}
        </section>
      )}
      {past.length > 0 && (
        <details class="section server-changes">
          <summary>{counted(past.length, "earlier change")} of its definitions</summary>
          {past.map((definition) => (
            <div key={`${definition.id} ${definition.at} ${definition.change}`} class="server-change">
              <Heading definition={definition} />
              {definition.diff.length > 0 && <Diff lines={definition.diff} />}
            </div>
          ))}
        </details>
      )}
    </>
  );
}

function Held({ definition, workspace }: { readonly definition: DefinitionRow; readonly workspace: string }) {
  const { id, hash = "", reasons, diff } = definition;
  const approve = async () => {
    await ask("definitions/approve", { workspace, id, hash });
    showToast(`Approved ${labelOf(definition)}.`);
  };
  return (
    <div class="box server-held">
      <Heading definition={definition} />
      <ul>
        {reasons.map((reason) => (
          <li key={reason} class="breakable">
            {visible(reason)}
          </li>
        ))}
      </ul>
      {diff.length === 0 ? (
        <Notice tone="warn">This definition is too large to be shown. Look at it in the server itself.</Notice>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard
        <section class="server-diff" tabIndex={0} aria-label={`What changes in ${visible(labelOf(definition))}`}>
          <Diff lines={diff} />
        </section>
      )}
      <div class="buttons">
        <ActionButton kind="primary" icon="check" label={`Approve ${visible(labelOf(definition))}`} run={approve}>
          Approve
        </ActionButton>
      </div>
    </div>
  );
}

const CHANGES: Readonly<Record<DefinitionRow["change"], { word: string; tone: "plain" | "ok" | "warn" | "info" }>> = {
  new: { word: "New", tone: "info" },
  wording: { word: "Changed", tone: "plain" },
  held: { word: "Held", tone: "warn" },
  approved: { word: "Approved", tone: "ok" },
};

function Heading({ definition }: { readonly definition: DefinitionRow }) {
  const { word, tone } = CHANGES[definition.change];
  return (
    <div class="server-change-head">
      <span class="mono breakable">{visible(labelOf(definition))}</span>
      <Badge tone={tone}>{word}</Badge>
      <time class="dim" dateTime={definition.at}>
        {shownAgo(definition.at)}
      </time>
    </div>
  );
}

function labelOf({ kind, name }: DefinitionRow): string {
  return kind === "instructions" ? "instructions" : kind === "prompts" ? `${name} (prompt)` : name;
}
