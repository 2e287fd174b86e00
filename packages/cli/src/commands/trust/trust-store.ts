// `trunkline trust --store`: approves the project's store, for example after its folder was moved.
import { openCommandStore } from "../../app/command-store.js";
import { EXIT } from "../../app/exit-codes.js";
import { projectStore } from "../../app/folders.js";
import { KnownStores, rejectStoreLinks } from "../../app/project-store.js";
import { askApproval, cannotAskApproval } from "../../terminal/approval-question.js";
import { type CommandContext, isAtTerminal } from "../../terminal/context.js";
import type { TrustOutcome } from "./run.js";

/** Approves the store of this project, or withdraws the approval. */
export async function trustStore(
  context: CommandContext,
  { yes, revoke }: { yes?: boolean; revoke?: boolean },
  outcome: TrustOutcome,
): Promise<number> {
  const { cwd, home } = context;
  const folder = projectStore(cwd, home);
  if (folder === undefined) {
    context.out("This project has no store. `trunkline init` creates one.");
    return EXIT.success;
  }
  const known = new KnownStores(home);
  if (revoke) {
    const had = await known.forget(folder);
    if (had) outcome.revoked.push(folder);
    context.out(had ? `Revoked: ${folder}` : "The store of this project was not approved.");
    return EXIT.success;
  }
  await rejectStoreLinks(folder);
  if (!yes && !isAtTerminal(context)) throw cannotAskApproval("store");
  if (!yes) {
    context.out(`${folder}\n  Approve it only if you trust whoever made it.`);
    if (!(await askApproval(context, "store"))) return EXIT.failure;
  }
  await using opened = await openCommandStore(context, { store: folder, mustExist: true });
  await known.remember(folder, opened.store.id);
  outcome.approved.push(folder);
  context.out(`Approved: ${folder}`);
  return EXIT.success;
}
