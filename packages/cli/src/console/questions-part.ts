// The page "Questions": what waits for a person in all workspaces.
import type { QuestionAnswer, QuestionRow } from "@trunkline/console/contract";
import { messageOf, TrunklineError } from "@trunkline/core";
import type { App } from "../app/app.js";
import { type ConsoleWorkspace, type ConsoleWorld, folderLabel, type WatchingPart } from "./console-world.js";
import { approveDefinition, heldRows } from "./definition-rows.js";
import { checkedAnswer, readAnswer, waitingRow } from "./question-rows.js";
import { approveTrust, trustFacts } from "./trust-rows.js";
import { WorkspaceWatches } from "./workspace-watches.js";

/** Files of other processes change without an event. */
const FRESH_MS = 3_000;

interface Found {
  readonly rows: Promise<readonly QuestionRow[]>;
  readonly atMs: number;
}

export function openQuestions(
  world: ConsoleWorld,
): WatchingPart<"questions" | "questions/answer"> & { count(): Promise<number> } {
  const questions = new Questions(world);
  const watches = new WorkspaceWatches((workspace, change) => {
    const found = world.workspaces().find(({ id }) => id === workspace);
    // States change all the time, also while a workspace closes; most of them wait for no one.
    if (change !== "status" || (found !== undefined && questions.hasOtherSignIns(found))) questions.changed(workspace);
  });
  return {
    count: async () => (await questions.rows()).length,
    handlers: {
      questions: async () => ({ questions: await questions.rows() }),
      "questions/answer": async ({ id, answer }) => {
        await questions.answer(id, readAnswer({ ...answer }));
        return {};
      },
    },
    watch: () => {
      const workspaces = world.workspaces();
      watches.watch(workspaces);
      questions.keepOnly(workspaces);
    },
    rest: () => watches.watch([]),
  };
}

class Questions {
  readonly #world: ConsoleWorld;
  /** What was found in each workspace besides questions of calls, which the board has. */
  readonly #found = new Map<string, Found>();
  /** When a row was first seen in a workspace, for rows without a time of their own. */
  readonly #since = new Map<string, Map<string, string>>();
  /** Rows that the person put aside. They come back if they change, and with the next broker. */
  readonly #aside = new Set<string>();
  /** The servers of each workspace that need a sign-in. */
  readonly #signIns = new Map<string, readonly string[]>();

  constructor(world: ConsoleWorld) {
    this.#world = world;
  }

  /** Those of calls first, because a program waits for them; then the others. Oldest first. */
  async rows(): Promise<readonly QuestionRow[]> {
    const waiting = this.#world.questions.waiting.map((question) => waitingRow(question, this.#world));
    const workspaces = this.#world.workspaces();
    const found = (await Promise.all(workspaces.map((workspace) => this.#rowsOf(workspace)))).flat();
    // Two workspaces can have one folder: they differ in their environment.
    const shown = new Map(found.filter((row) => !this.#aside.has(keyOf(row))).map((row) => [keyOf(row), row]));
    return [...waiting, ...shown.values()];
  }

  async answer(id: string, answer: QuestionAnswer): Promise<void> {
    const row = (await this.rows()).find((each) => each.id === id);
    if (row === undefined || row.kind === "form" || row.kind === "visit") {
      const { questions } = this.#world;
      questions.answer(id, checkedAnswer(questions.find(id), answer));
      return;
    }
    if (answer.action === "accept") await this.#accept(row, answer.hash);
    else this.#aside.add(keyOf(row));
    this.changed(row.workspace);
  }

  /** Whether other servers than before need a sign-in. One that was put aside counts again when it is needed again. */
  hasOtherSignIns({ id, app, folder }: ConsoleWorkspace): boolean {
    const names = signInsOf(app).map(({ name }) => name);
    const before = this.#signIns.get(id) ?? [];
    this.#signIns.set(id, names);
    const label = folderLabel(folder, this.#world.context.userHome);
    for (const name of before) if (!names.includes(name)) this.#aside.delete(`sign-in ${label} ${name}`);
    return names.join("\n") !== before.join("\n");
  }

  /** Forgets what was found in other workspaces. */
  keepOnly(workspaces: readonly ConsoleWorkspace[]): void {
    const ids = new Set(workspaces.map(({ id }) => id));
    for (const kept of [this.#found, this.#since, this.#signIns])
      for (const id of kept.keys()) if (!ids.has(id)) kept.delete(id);
  }

  changed(workspace: string): void {
    this.#found.delete(workspace);
    this.#world.send({ kind: "changed", topics: ["questions"] });
  }

  async #accept(row: QuestionRow, hash: string | undefined): Promise<void> {
    const workspace = this.#world.workspace(row.workspace);
    switch (row.kind) {
      case "trust":
        await approveTrust(workspace, hash);
        this.#world.send({ kind: "changed", topics: ["servers", "tools", "settings"], workspace: workspace.id });
        return;
      case "held":
        await approveDefinition(workspace.app, { id: row.definition.id, hash: hash ?? "" });
        this.#world.send({ kind: "changed", topics: ["servers", "definitions", "tools"], workspace: workspace.id });
        return;
      default:
        throw new TrunklineError("USAGE", "A sign-in begins at the server.", { hint: "Use `servers/sign-in`." });
    }
  }

  #rowsOf(workspace: ConsoleWorkspace): Promise<readonly QuestionRow[]> {
    const known = this.#found.get(workspace.id);
    if (known !== undefined && Date.now() - known.atMs < FRESH_MS) return known.rows;
    const rows = this.#find(workspace).catch((error: unknown) => {
      // A configuration that cannot be read is shown with the settings.
      this.#world.context.logger.debug("a workspace has no questions", { error: messageOf(error) });
      return [];
    });
    this.#found.set(workspace.id, { rows, atMs: Date.now() });
    return rows;
  }

  async #find(workspace: ConsoleWorkspace): Promise<readonly QuestionRow[]> {
    const { id, app, folder } = workspace;
    const label = folderLabel(folder, this.#world.context.userHome);
    const row = (key: string, at?: string) => ({
      id: key,
      since: at ?? this.#seen(id, key),
      workspace: id,
      folder: label,
    });
    const config = await app.config();
    const held = await heldRows(app);
    return [
      ...trustFacts(config).map((facts) => ({
        // The same when the files change: an answer to what was shown before is then told what happened.
        ...row(`trust ${id} ${facts.files.length === 0 ? "workspace" : "files"}`),
        kind: "trust" as const,
        ...facts,
      })),
      ...signInsOf(app).map(({ name, error }) => ({
        ...row(`sign-in ${id} ${name}`),
        kind: "sign-in" as const,
        server: name,
        message: error?.message ?? "",
      })),
      ...held.map((definition) => ({
        ...row(`held ${id} ${definition.id}`, definition.at),
        kind: "held" as const,
        definition,
      })),
    ];
  }

  #seen(workspace: string, key: string): string {
    const seen = this.#since.get(workspace) ?? new Map<string, string>();
    const known = seen.get(key) ?? new Date().toISOString();
    this.#since.set(workspace, seen.set(key, known));
    return known;
  }
}

/** Opens nothing: a server that no one has used needs no sign-in yet. */
function signInsOf(app: App) {
  return (app.openedHub?.status() ?? []).filter(({ state }) => state === "needs-auth");
}

/** Identifies what a row asks for, whichever workspace asks. */
function keyOf(row: QuestionRow): string {
  switch (row.kind) {
    case "trust":
      return `trust ${row.hash}`;
    case "held":
      return `held ${row.folder} ${row.definition.server} ${row.definition.hash}`;
    case "sign-in":
      return `sign-in ${row.folder} ${row.server}`;
    default:
      return row.id;
  }
}
