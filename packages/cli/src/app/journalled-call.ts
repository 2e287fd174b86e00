// Journals calls that do not pass the gateway: of `call`, a model or a script. `trunkline log` and the console show them
// like any other.
import { LOCAL_PRINCIPAL, type ToolCallResult } from "@trunkline/core";
import { CallLog, FileJournal, journalFolder } from "@trunkline/gateway/journal";
import type { App } from "./app.js";
import { workspaceKeyOf } from "./workspace-key.js";

/** Runs a call and writes its line. A journal that cannot be written changes nothing about the call. */
export async function journalled<Result extends ToolCallResult>(
  app: App,
  operation: string,
  run: () => Promise<Result>,
): Promise<Result> {
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
