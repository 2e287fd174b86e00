// The effective configuration. It is shown here and edited in its files.
import type { SettingsReport } from "@trunkline/console/contract";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { PageProps } from "../../frame.js";
import { ask, useAnswer } from "../../kit/live.js";
import {
  ActionButton,
  Badge,
  Button,
  CopyButton,
  ErrorNotice,
  Loading,
  PageHead,
  showToast,
  type Tone,
} from "../../kit/parts.js";
import { counted, shownAgo, visible } from "../../kit/wording.js";
import "./settings.css";

export function SettingsPage({ workspace }: PageProps) {
  const { data, error, reload } = useAnswer("settings", { workspace }, ["settings"]);
  return (
    <>
      <PageHead title="Settings" about={data === undefined ? undefined : aboutOf(data)} />
      <div class="page-body padded">
        {error !== undefined && <ErrorNotice error={error} retry={reload} />}
        {data === undefined ? error === undefined && <Loading /> : <Report report={data} workspace={workspace} />}
      </div>
    </>
  );
}

function aboutOf({ files, diagnostics }: SettingsReport): string {
  const read = counted(files.filter(({ exists }) => exists).length, "file");
  const problems = diagnostics.filter(({ severity }) => severity !== "note").length;
  return problems === 0 ? `${read}, no problems` : `${read}, ${counted(problems, "problem")}`;
}

interface ReportProps {
  readonly report: SettingsReport;
  readonly workspace: string;
}

function Report({ report, workspace }: ReportProps) {
  return (
    <div class="settings">
      <Diagnostics report={report} workspace={workspace} />
      <Files report={report} workspace={workspace} />
      <Values report={report} />
      <Policies report={report} />
      <Paths report={report} />
      <Approvals report={report} workspace={workspace} />
    </div>
  );
}

function Section(props: {
  readonly title: string;
  readonly about?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  const id = `section-${props.title.toLowerCase().replaceAll(" ", "-")}`;
  return (
    <section class="section" aria-labelledby={id}>
      <h2 id={id}>{props.title}</h2>
      {props.about !== undefined && <p>{props.about}</p>}
      {props.children}
    </section>
  );
}

function Table(props: { readonly heads: readonly string[]; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard
    <div class="framed" tabIndex={0}>
      <table class="table">
        <thead>
          <tr>
            {props.heads.map((head) => (
              <th key={head} scope="col">
                {head === "Actions" ? <span class="visually-hidden">{head}</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </div>
  );
}

const TONES: Readonly<Record<SettingsReport["diagnostics"][number]["severity"], Tone>> = {
  error: "bad",
  warning: "warn",
  note: "info",
};
const RANK = ["error", "warning", "note"];

/** What is wrong comes first. */
function Diagnostics({ report: { diagnostics, files }, workspace }: ReportProps) {
  if (diagnostics.length === 0) return null;
  const sorted = [...diagnostics].sort((a, b) => RANK.indexOf(a.severity) - RANK.indexOf(b.severity));
  return (
    <Section title="Problems">
      <Table heads={["Severity", "What", "Where", "Actions"]}>
        {sorted.map(({ severity, message, file, line }, index) => (
          <tr key={index}>
            <td class="state">
              <Badge tone={TONES[severity]}>{severity}</Badge>
            </td>
            <td class="breakable">{visible(withoutFile(message, file))}</td>
            <td class="path">
              {visible(file)}
              {line === undefined ? "" : `:${line}`}
            </td>
            <td class="action">
              {files.some(({ path, exists }) => path === file && exists) && (
                <OpenButton workspace={workspace} path={file} />
              )}
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  );
}

/** The file has a column of its own. */
function withoutFile(message: string, file: string): string {
  const text = message.startsWith(`${file}: `) ? message.slice(file.length + 2) : message;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const SCOPES: Readonly<Record<string, string>> = {
  explicit: "named for this run",
  project: "this project",
  user: "you",
};

function Files({ report: { files }, workspace }: ReportProps) {
  return (
    <Section title="Files" about="Highest priority first: a file overrides the files below it.">
      <Table heads={["File", "Belongs to", "State", "Actions"]}>
        {files.map((file) => (
          <tr key={file.path}>
            <td class="path">{visible(file.path)}</td>
            <td class="state">{SCOPES[file.scope] ?? visible(file.scope)}</td>
            <td>
              <FileState {...file} />
            </td>
            <td class="action">{file.exists && <OpenButton workspace={workspace} path={file.path} />}</td>
          </tr>
        ))}
      </Table>
    </Section>
  );
}

function FileState({ exists, problem, isTrusted }: SettingsReport["files"][number]) {
  if (!exists) return <span class="dim">does not exist</span>;
  if (problem !== undefined)
    return (
      <>
        <Badge tone="bad">has no effect</Badge> <span class="breakable">{visible(problem)}</span>
      </>
    );
  return isTrusted ? <Badge tone="ok">in use</Badge> : <Badge tone="warn">not approved</Badge>;
}

/** Opens a file with the system's editor, or offers its path if that is not possible from here. */
function OpenButton({ workspace, path }: { readonly workspace: string; readonly path: string }) {
  const [cannotOpen, setCannotOpen] = useState(false);
  if (cannotOpen) return <CopyButton text={path} label="Copy path" />;
  const open = async () => {
    const { opened } = await ask("settings/open", { workspace, path });
    if (opened) return;
    setCannotOpen(true);
    showToast("No editor can be opened from here. Copy the path instead.");
  };
  return (
    <ActionButton small kind="quiet" icon="file" label={`Open ${path}`} run={open}>
      Open
    </ActionButton>
  );
}

function Values({ report: { values, surface, storeFolder } }: { readonly report: SettingsReport }) {
  return (
    <Section title="Values" about="Every setting in effect, and the file that decides it.">
      <Table heads={["Setting", "Value", "From"]}>
        {values.map(({ name, value, from }, index) => (
          <tr key={index}>
            <td class="path">{visible(name)}</td>
            <td class="breakable">{visible(value)}</td>
            <td class={from === "default" ? "dim" : "path"}>{visible(from)}</td>
          </tr>
        ))}
        {surface !== undefined && (
          <tr>
            <td class="path">surface</td>
            <td class="breakable">{visible(surface)}</td>
            <td class="dim">decided for each client</td>
          </tr>
        )}
        <tr>
          <td class="path">store</td>
          <td class="path">{visible(storeFolder)}</td>
          <td class="dim">the workspace</td>
        </tr>
      </Table>
    </Section>
  );
}

const VERDICTS: Readonly<Record<string, Tone>> = { allow: "ok", ask: "warn", deny: "bad" };

function Policies({ report: { policies } }: { readonly report: SettingsReport }) {
  return (
    <Section
      title="Policy"
      about="Which operations run. In each file the most specific rule counts; among files, the strictest."
    >
      {policies.length === 0 ? (
        <div class="none">No file has rules, so everything is allowed.</div>
      ) : (
        <Table heads={["Operations", "Verdict", "From"]}>
          {policies.map(({ pattern, verdict, file }, index) => (
            <tr key={index}>
              <td class="path">{visible(pattern)}</td>
              <td class="state">
                <Badge tone={VERDICTS[verdict] ?? "plain"}>{visible(verdict)}</Badge>
              </td>
              <td class="path">{visible(file ?? "")}</td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  );
}

function Paths({ report: { paths } }: { readonly report: SettingsReport }) {
  const outside = paths.outside === "ask" ? "For other files they have to ask." : "Other files are refused.";
  return (
    <Section title="Folders" about={`The folders that clients may use. ${outside}`}>
      {paths.note !== undefined && <p>{visible(paths.note)}</p>}
      {paths.allowed.length === 0 ? (
        <div class="none">No folder is allowed.</div>
      ) : (
        <Table heads={["Folder"]}>
          {paths.allowed.map((path) => (
            <tr key={path}>
              <td class="path">{visible(path)}</td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  );
}

const KINDS: Readonly<Record<SettingsReport["approvals"][number]["kind"], string>> = {
  files: "its servers may run",
  workspace: "your servers may run in it",
  store: "its store may be used",
};

function Approvals({ report: { approvals }, workspace }: ReportProps) {
  return (
    <Section title="Approvals" about="What you have approved, in all projects. Revoking one stops its servers at once.">
      {approvals.length === 0 ? (
        <div class="none">Nothing is approved.</div>
      ) : (
        <Table heads={["Path", "Approved", "Since", "Actions"]}>
          {approvals.map((approval) => (
            <ApprovalRow key={approval.id} approval={approval} workspace={workspace} />
          ))}
        </Table>
      )}
    </Section>
  );
}

function ApprovalRow(props: { readonly approval: SettingsReport["approvals"][number]; readonly workspace: string }) {
  const { id, kind, path, since } = props.approval;
  const [isSure, setSure] = useState(false);
  return (
    <tr>
      <td class="path">{visible(path)}</td>
      <td>{KINDS[kind]}</td>
      <td class="state" title={since}>
        {since === "" ? "" : shownAgo(since)}
      </td>
      <td class="action">
        {isSure ? (
          <>
            <ActionButton
              small
              kind="danger"
              label={`Revoke the approval of ${path}`}
              run={async () => {
                await ask("settings/revoke", { workspace: props.workspace, id });
                showToast(`Revoked: ${path}`);
              }}
            >
              Revoke now
            </ActionButton>{" "}
            <Button small kind="quiet" onClick={() => setSure(false)}>
              Keep
            </Button>
          </>
        ) : (
          <Button small kind="quiet" label={`Revoke ${path}`} onClick={() => setSure(true)}>
            Revoke
          </Button>
        )}
      </td>
    </tr>
  );
}
