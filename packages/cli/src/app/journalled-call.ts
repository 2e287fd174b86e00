// Journals a call that a person makes at a terminal, so that `trunkline log` and the console show it like any other.
import type { CallResult } from "@trunkline/client";
import { LOCAL_PRINCIPAL } from "@trunkline/core";
import { CallLog, FileJournal, journalFolder } from "@trunkline/gateway/journal";
import type { App } from "./app.js";
import { workspaceKeyOf } from "./workspace-key.js";

/** Runs a call and writes its line. A journal that cannot be written changes nothing about the call. */
export async function journalled(app: App, operation: string, run: () => Promise<CallResult>): Promise<CallResult> {
  const folder = journalFolder(app.context.home, app.storeFolder);
  await using journal = new FileJournal({ folder, workspace: workspaceKeyOf(app.context) });
  const end = new CallLog({ journal, clock: app.context.clock }).begin(operation, {
    name: "trunkline",
    principal: LOCAL_PRINCIPAL,
  });
  try {
    const result = await run();
    end({ value: result.raw, ...(result.isError ? { code: "UPSTREAM" } : {}) });
    return result;
  } catch (error) {
    end({ error });
    throw error;
  }
}
