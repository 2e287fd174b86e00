// Commands that change existing documents: `update`, `delete` and `undelete`.
import { TrunklineError } from "@trunkline/core";
import type { DeleteParams, OperationParams, UpdateParams } from "@trunkline/store";
import { openCommandStore } from "../../app/command-store.js";
import { EXIT } from "../../app/exit-codes.js";
import type { CommandContext } from "../../terminal/context.js";
import { counted, pathShower, type StoreOptions, wantsJson } from "../../terminal/output.js";
import { byPathOrHash } from "./finding.js";
import { outJson } from "./out-json.js";

export async function update(context: CommandContext, params: UpdateParams, options: StoreOptions): Promise<number> {
  const { name: target, pattern, tags, removeTags, metadata } = params;
  if ((target === undefined) === (pattern === undefined)) {
    throw new TrunklineError("USAGE", "Name a document or use --pattern, but not both.");
  }
  if (tags === undefined && removeTags === undefined && metadata === undefined) {
    throw new TrunklineError("USAGE", "There is nothing to change.", {
      hint: "Use --tag, --remove-tag or --metadata key=value.",
    });
  }
  await using opened = await openCommandStore(context, options);
  const { store } = opened;
  const calling = opened.calling("update");
  const result =
    target === undefined
      ? await store.update(params, calling)
      : await byPathOrHash(target, ({ path: name, hash }) => store.update({ ...params, name, hash }, calling));
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, result);
  else context.out(`updated ${counted(result.matched, "document")}`);
  return EXIT.success;
}

export async function deleteDocuments(
  context: CommandContext,
  params: DeleteParams,
  options: StoreOptions & { session?: string },
): Promise<number> {
  const { names = [], pattern, dryRun } = params;
  if (names.length === 0 && pattern === undefined) {
    throw new TrunklineError("USAGE", "Which documents?", { hint: "Give names, globs in quotes, or --pattern." });
  }
  await using opened = await openCommandStore(context, options);
  await opened.resume(options.session);
  const result = await opened.store.delete(params, opened.calling("delete"));
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, result);
  else {
    for (const path of result.deleted) context.out(pathShower(context)(path));
    if (result.count === 0) context.note("No document matches.");
    else if (dryRun) context.note(`${counted(result.count, "document")} would be deleted.`);
    else context.note(`${counted(result.count, "document")} in the trash until gc; see undelete.`);
  }
  return result.count === 0 ? EXIT.failure : EXIT.success;
}

export async function undelete(
  context: CommandContext,
  params: OperationParams<"undelete">,
  options: StoreOptions,
): Promise<number> {
  await using opened = await openCommandStore(context, options);
  const result = await opened.store.undelete(params, opened.calling("undelete"));
  opened.clearProgress();
  if (wantsJson(options)) outJson(context, result);
  else for (const path of result.restored) context.out(pathShower(context)(path));
  return EXIT.success;
}
