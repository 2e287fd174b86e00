// Projects that wait for approval: what their files would run, and whether the user's own servers may run in them.
import { createHash } from "node:crypto";
import { type LoadedConfig, TrustStore } from "@trunkline/config";
import type { QuestionRow } from "@trunkline/console/contract";
import { TrunklineError } from "@trunkline/core";
import { type RunnableFile, runnableFiles, workspaceQuestion, workspaceServers } from "../terminal/trust-prompt.js";
import { asItIs } from "./as-it-is.js";
import type { ConsoleWorkspace } from "./console-world.js";

type TrustRow = Extract<QuestionRow, { kind: "trust" }>;

/** Everything about the row that the workspace decides. */
type TrustFacts = Pick<TrustRow, "message" | "files" | "hash">;

interface Waiting {
  readonly facts: TrustFacts;
  readonly confirm: (store: TrustStore) => Promise<void>;
}

/** What a workspace waits for: its files, and itself for the user's own servers. Each is approved on its own. */
export function trustFacts(config: LoadedConfig): readonly TrustFacts[] {
  return waitingIn(config).map(({ facts }) => facts);
}

/** Approves exactly what the person saw. Throws if it is not what the files say now. */
export async function approveTrust({ app }: ConsoleWorkspace, hash: string | undefined): Promise<void> {
  // Events about an edit arrive a moment after it.
  await app.refreshConfig();
  const waiting = waitingIn(await app.config()).find(({ facts }) => facts.hash === hash);
  if (waiting === undefined) {
    throw new TrunklineError(
      "INVALID_ARGUMENT",
      "The files have changed since they were shown. Nothing was approved.",
      {
        hint: "Read what they would run now, and decide again.",
      },
    );
  }
  await waiting.confirm(new TrustStore(app.context.home));
  await app.refreshConfig();
}

function waitingIn(config: LoadedConfig): readonly Waiting[] {
  return [...waitingFiles(config), ...waitingWorkspace(config)];
}

function waitingFiles(config: LoadedConfig): readonly Waiting[] {
  const files = runnableFiles(config).filter(({ path }) =>
    config.servers.some(({ file, trusted, disabled }) => file === path && !trusted && !disabled),
  );
  if (files.length === 0) return [];
  const facts = {
    message: "This project would start programs or connect to servers that you have not approved yet.",
    files: files.map(({ path, wouldRun }) => ({ path: asItIs(path), wouldRun: wouldRun.map(asTheyAre) })),
    hash: hashOf(
      "files",
      files.map(({ path, fingerprint, wouldRun }) => ({ path, fingerprint, wouldRun })),
    ),
  };
  return [{ facts, confirm: (store) => store.confirm(...files) }];
}

function waitingWorkspace(config: LoadedConfig): readonly Waiting[] {
  const names = workspaceServers(config);
  if (names.length === 0) return [];
  const { workspaceFolder } = config;
  const facts = {
    message: asItIs(workspaceQuestion(workspaceFolder, names)),
    files: [],
    hash: hashOf("workspace", [workspaceFolder, ...names]),
  };
  return [{ facts, confirm: (store) => store.confirmWorkspace(workspaceFolder) }];
}

function asTheyAre({ name, what }: RunnableFile["wouldRun"][number]) {
  return { name: asItIs(name), what: asItIs(what) };
}

function hashOf(kind: string, shown: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify([kind, shown]))
    .digest("hex");
}
