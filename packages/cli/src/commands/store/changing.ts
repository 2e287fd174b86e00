// What changes documents that are there: `update`, `delete` and `undelete`.
import { TrunklineError } from "@trunkline/core";
import { openCommandStore } from "../../app/command-store.js";
import { EXIT } from "../../app/exit-codes.js";
import type { CommandContext } from "../../terminal/context.js";
import { counted, outJson, paintFor, type StoreOptions, shownText, wantsJson } from "../../terminal/output.js";
import type { Repeated } from "../flags.js";
import { byPathOrHash } from "./finding.js";

/** Options of `trunkline store update`. */
export interface UpdateOptions extends StoreOptions {
  target: string | undefined;
  pattern?: string;
  tag?: Repeated;
  removeTag?: Repeated;
  metadata?: Repeated;
  collection?: string;
}

/** Options of `trunkline store delete`. */
export interface DeleteOptions extends StoreOptions {
  names: readonly string[];
  pattern?: string;
  collection?: string;
  session?: string;
  dryRun?: boolean;
}

/** Changes tags and metadata. */
export async function update(context: CommandContext, options: UpdateOptions): Promise<number> {
  const { target, pattern, tag: tags, removeTag: removeTags, metadata, collection } = options;
  if ((target === undefined) === (pattern === undefined)) {
    throw new TrunklineError("USAGE", "Give a document, or a --pattern, but not both.");
  }
  if (tags === undefined && removeTags === undefined && metadata === undefined) {
    throw new TrunklineError("USAGE", "There is nothing to change.", {
      hint: "Use --tag, --remove-tag or --metadata key=value.",
    });
  }
  const changes = { tags, removeTags, metadata, collection };
  await using opened = await openCommandStore(context, options);
  const { store } = opened;
  const calling = opened.calling("update");
  const result =
    target === undefined
      ? await store.update({ ...changes, pattern }, calling)
      : await byPathOrHash(target, ({ path: name, hash }) => store.update({ ...changes, name, hash }, calling));
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, result);
  else context.out(`updated ${counted(result.matched, "document")}`);
  return EXIT.success;
}

/** Moves documents to the trash. */
export async function deleteDocuments(context: CommandContext, options: DeleteOptions): Promise<number> {
  const { names, pattern, collection, dryRun } = options;
  if (names.length === 0 && pattern === undefined) {
    throw new TrunklineError("USAGE", "Which documents?", { hint: "Give names, globs in quotes, or --pattern." });
  }
  await using opened = await openCommandStore(context, options);
  await opened.resume(options.session);
  const result = await opened.store.delete({ names, pattern, collection, dryRun: dryRun }, opened.calling("delete"));
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, result);
  else {
    const { isTerminal } = paintFor(context);
    for (const path of result.deleted) context.out(shownText(path, isTerminal));
    if (result.count === 0) context.note("No document matches.");
    else if (dryRun) context.note(`${counted(result.count, "document")} would be deleted.`);
    else context.note(`${counted(result.count, "document")} in the trash until gc; see undelete.`);
  }
  return result.count === 0 ? EXIT.failure : EXIT.success;
}

/** Brings documents back from the trash. */
export async function undelete(
  context: CommandContext,
  options: StoreOptions & { name: string; collection?: string },
): Promise<number> {
  const { name, collection } = options;
  await using opened = await openCommandStore(context, options);
  const result = await opened.store.undelete(
    { name, ...(collection === undefined ? {} : { collection }) },
    opened.calling("undelete"),
  );
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, result);
  else for (const path of result.restored) context.out(shownText(path, paintFor(context).isTerminal));
  return EXIT.success;
}
