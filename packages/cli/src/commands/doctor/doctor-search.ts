// The search section of `trunkline doctor`: whether the model for search by meaning is there. Its absence is a notice
// and not a failure, because search by words works without it.
import { messageOf } from "@trunkline/core";
import { type SearchModelState, searchModelState } from "../../app/search-model.js";
import type { CommandContext } from "../../terminal/context.js";
import type { Page } from "../../terminal/report-page.js";

interface SearchCheck {
  readonly model: SearchModelState | "failed";
  /** Why the model cannot be used. */
  readonly reason?: string;
}

export async function checkSearch(context: CommandContext): Promise<SearchCheck> {
  try {
    return { model: await searchModelState(context) };
  } catch (error) {
    if (context.signal.aborted) throw error;
    // Whatever is wrong with the package that runs the model, the rest of the report still counts.
    return { model: "failed", reason: messageOf(error) };
  }
}

export function jsonSearch({ model, reason }: SearchCheck): Record<string, string | null> {
  return { model, reason: reason ?? null };
}

/** Prints nothing if the model is there. */
export function showSearch(page: Page, { model, reason }: SearchCheck): void {
  if (model === "ready") return;
  const { palette } = page;
  const why =
    model === "failed" ? `cannot be used: ${reason}` : model === "damaged" ? "is damaged" : "is not installed";
  page.gap();
  page.text("Search", { colour: palette.heading });
  page.text(`The model for search by meaning ${why}, so tools and documents are found by words only.`, {
    indent: 2,
    colour: palette.warning,
  });
  page.text("next: trunkline models pull", { indent: 2 });
}
