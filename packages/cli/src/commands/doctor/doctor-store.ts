// The store section of `trunkline doctor`. For a store in a database: whether it can be reached, and what it could not
// index. For a store in a folder: only whether there is a driver to open it with.
import { isTrunklineError, messageOf, withDeadline } from "@trunkline/core";
import type { StatusResult } from "@trunkline/store";
import type { App } from "../../app/app.js";
import type { Page } from "../../terminal/report-page.js";

interface StoreCheck {
  /** Host, port and name of the database; undefined for a store in a folder. */
  readonly database?: string;
  readonly folder?: string;
  readonly problem?: { readonly message: string; readonly hint?: string };
  readonly notIndexed?: StatusResult["notIndexed"];
}

/** Returns undefined for a store in a folder that can be opened. */
export async function checkStore(app: App, timeoutMs: number): Promise<StoreCheck | undefined> {
  let database: string | undefined;
  let isFolder = false;
  try {
    isFolder = (await app.storeAddress()) === undefined;
    if (isFolder) {
      const { requireDriver } = await import("@trunkline/store");
      requireDriver();
      return undefined;
    }
    database = await app.storePlace();
    const what = "Reading the store's status";
    const { notIndexed } = await withDeadline({ what, timeoutMs, signal: app.context.signal }, async (signal) =>
      (await app.store()).status({}, { signal }),
    );
    return notIndexed === undefined ? { database } : { database, notIndexed };
  } catch (error) {
    if (app.context.signal.aborted) throw error;
    const hint = isTrunklineError(error) ? error.hint : undefined;
    const problem = { message: messageOf(error), hint };
    return isFolder ? { folder: app.storeFolder, problem } : { database: database ?? "a database", problem };
  }
}

export function jsonStore({ database, folder, problem, notIndexed }: StoreCheck): Record<string, unknown> {
  return {
    ...(folder === undefined ? { database } : { folder }),
    status: problem === undefined ? "ok" : "failed",
    problem: problem?.message ?? null,
    not_indexed: notIndexed ?? null,
  };
}

export function showStore(page: Page, { database, folder, problem, notIndexed }: StoreCheck): void {
  const { palette } = page;
  page.gap();
  page.title(problem === undefined ? "✓" : "✗", "store", {
    what: database ?? folder ?? "",
    colour: problem === undefined ? palette.success : palette.error,
  });
  if (problem !== undefined) page.text(problem.message, { indent: 4, colour: palette.error });
  if (problem?.hint !== undefined) page.text(`next: ${problem.hint}`, { indent: 4 });
  if (notIndexed === undefined) return;
  page.text(`Documents that could not be indexed: ${notIndexed.documents}.`, { indent: 4, colour: palette.warning });
  for (const each of notIndexed.problems) page.text(`${each.path}: ${each.problem}`, { indent: 6 });
  page.text("next: trunkline store repair", { indent: 4 });
}
