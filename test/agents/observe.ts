// Runs one agent in every situation, and keeps what its model and its files looked like.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Agent } from "./agents.js";
import { Place } from "./place.js";
import { ScriptedModel } from "./scripted-model.js";
import { runSession, type Session, type Step } from "./session.js";

const LEDGER = fileURLToPath(new URL("../broker/ledger-server.js", import.meta.url));
const JOURNAL_CHECK_MS = 20;

/** The tool that a rule of the agent denies. */
const DENIED = { server: "files", tool: "write_file" };

export interface Observed {
  readonly direct: Session;
  /** The first session after `setup`: neither a daemon nor a server runs, and no tool is known. */
  readonly cold: Session;
  /** The next session; it ends before its first call. */
  readonly warm: Session;
  readonly crashes: {
    readonly session: Session;
    /** How often the server was called while the daemon was killed. */
    readonly calls: number;
  };
  readonly rule: {
    readonly session: Session;
    readonly wasWritten: boolean;
    readonly files: readonly AgentFile[];
  };
}

/** What a file of the agent held before `setup`, after it, before `uninstall --restore`, and after it. */
export interface AgentFile {
  readonly path: string;
  readonly before: string;
  readonly moved: string;
  readonly used: string;
  readonly after: string;
}

const ENTITY = { name: "Ada", entityType: "person", observations: ["wrote a program"] };

const remember: Step = {
  ...{ name: "execute", server: "trunkline", tool: "execute" },
  args: { operations: [{ op: "memory.create_entities", params: { entities: [ENTITY] } }] },
};

const both = ({ workspace }: Place): Step[] => [
  { name: "listed", server: "everything", tool: "get-sum", args: { a: 2, b: 3 } },
  { name: "image", server: "everything", tool: "get-tiny-image" },
  { name: "large", server: "files", tool: "read_text_file", args: { path: join(workspace, "big.txt") } },
  { name: "failing", server: "files", tool: "read_text_file", args: { path: join(workspace, "missing.txt") } },
  { name: "unknown", server: "everything", tool: "no_such_tool", madeUp: true },
  { name: "structured", server: "everything", tool: "get-structured-content", args: { location: "Chicago" } },
  { name: "question", server: "everything", tool: "trigger-elicitation-request", writes: true },
];

function onlyThrough(agent: Agent, { workspace }: Place): Step[] {
  const query = (name: string, ...steps: readonly { op: string; params: object }[]): Step => {
    return { name, server: "trunkline", tool: "query", args: { steps } };
  };
  const shown = agent.toolName("trunkline", "everything_get-sum").replace("::", "__");
  return [
    query(
      "pipeline",
      { op: "files.read_text_file", params: { path: join(workspace, "hello.txt") } },
      { op: "everything.echo", params: { message: "$prev.content" } },
    ),
    remember,
    { name: "executed", server: "memory", tool: "read_graph" },
    query("misspelt", { op: "everything.get-summ", params: { a: 2, b: 3 } }),
    query("as shown", { op: shown, params: { a: 2, b: 3 } }),
  ];
}

export async function observe(agent: Agent): Promise<Observed> {
  await using model = await ScriptedModel.start();
  const stage = { agent, model };
  const direct = await observeDirect(stage);
  const { cold, warm, crashes } = await observeThrough(stage);
  return { direct, cold, warm, crashes, rule: await observeRule(stage) };
}

interface Stage {
  readonly agent: Agent;
  readonly model: ScriptedModel;
}

async function observeDirect({ agent, model }: Stage): Promise<Session> {
  await using place = new Place();
  place.writeAll(agent.settings(place, { url: model.url }));
  return await runSession(both(place), { agent, model, place, through: false });
}

async function observeThrough({ agent, model }: Stage) {
  await using place = new Place();
  place.writeAll(agent.settings(place, { url: model.url }));
  await place.trunkline("setup", "--yes");
  const options = { agent, model, place, through: true };
  const steps = [...both(place), ...onlyThrough(agent, place)];
  const cold = await runSession(steps, options);
  const warm = await runSession(steps, { ...options, onlyPrepares: true });
  return { cold, warm, crashes: await observeCrashes(options) };
}

async function observeCrashes(options: Parameters<typeof runSession>[1]): Promise<Observed["crashes"]> {
  const { place } = options;
  const journal = join(place.home, "journal.txt");
  const calls = () => (existsSync(journal) ? readFileSync(journal, "utf8").split("\n").length - 1 : 0);
  await place.trunkline("servers", "add", "ledger", "--user", "--", "node", LEDGER, "--journal", journal);
  const end = new AbortController();
  let killing = Promise.resolve();
  const killInMidCall = async () => {
    while (calls() === 0) await delay(JOURNAL_CHECK_MS, undefined, { signal: end.signal });
    place.killDaemon();
    // A call that is repeated would now be answered.
    place.write("journal.txt.go", "");
  };
  const echo = (text: string): Step => ({ name: text, server: "ledger", tool: "echo", args: { text } });
  const session = await runSession(
    [
      echo("before"),
      { ...echo("after a crash"), before: () => place.killDaemon() },
      {
        ...{ name: "in mid-call", server: "ledger", tool: "spend", args: { key: "coin" }, writes: true },
        before: () => {
          killing = killInMidCall().catch(() => {});
        },
      },
      echo("after a crash in mid-call"),
    ],
    options,
  );
  end.abort();
  await killing;
  return { session, calls: calls() };
}

async function observeRule({ agent, model }: Stage): Promise<Observed["rule"]> {
  await using place = new Place();
  const before = agent.settings(place, { url: model.url, denies: DENIED });
  const contents = () => Object.keys(before).map((path) => place.read(path));
  place.writeAll(before);
  await place.trunkline("setup", "--yes");
  const moved = contents();
  const path = join(place.workspace, "denied.txt");
  const write: Step = { name: "denied", ...DENIED, args: { path, content: "written" }, writes: true };
  const steps = [write, { ...write, name: "denied by its own name", direct: true }, remember];
  const session = await runSession(steps, { agent, model, place, through: true });
  const used = contents();
  await place.trunkline("uninstall", "--restore", "--yes");
  const after = contents();
  const files = Object.entries(before).map(([file, content], index) => {
    return { path: file, before: content, moved: moved[index]!, used: used[index]!, after: after[index]! };
  });
  return { session, wasWritten: existsSync(path), files };
}
