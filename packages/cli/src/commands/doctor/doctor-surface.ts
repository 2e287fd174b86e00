// The section of `trunkline doctor` about what an agent sees: which tools `serve` lists, and why.
import { LOCAL_PRINCIPAL, matchesGlob, printable } from "@trunkline/core";
import type { SurfacePreview } from "@trunkline/server";
import type { App } from "../../app/app.js";
import type { Page } from "../../terminal/report-page.js";
import { quantity } from "../../terminal/trust-prompt.js";

interface SurfaceCheck extends SurfacePreview {
  /** Favourites in the configuration that no known tool matches. */
  readonly unmatched: readonly string[];
}

/** Returns what an agent that is not in the client table would get. */
export async function checkSurface(app: App): Promise<SurfaceCheck | undefined> {
  const [service, hub, { settings }] = [await app.service(), await app.hub(), await app.config()];
  const preview = await service.previewSurface({ name: "", capabilities: {}, principal: LOCAL_PRINCIPAL });
  if (preview === undefined) return undefined;
  const named = [...(settings?.favourites ?? []), ...(settings?.projectFavourites ?? [])];
  const tools = hub.tools();
  const unmatched = named.filter((glob) => !tools.some(({ name }) => matchesGlob(glob, name)));
  return { ...preview, unmatched };
}

export function jsonSurface(check: SurfaceCheck): Record<string, unknown> {
  const { surface, reason, tokens, favourites, signed, unmatched } = check;
  return {
    surface,
    reason,
    ...(tokens === undefined ? {} : { tokens: { short: tokens.short, full: tokens.full ?? null } }),
    favourites: favourites.map(({ name, why, uses }) => ({ tool: name, why, uses: uses?.count ?? 0 })),
    signatures: signed,
    unmatched,
  };
}

export function showSurface(page: Page, check: SurfaceCheck): void {
  const { surface, reason, tokens, favourites, signed, unmatched } = check;
  const line = (label: string, text: string) => page.text(`${label.padEnd(12)}${text}`, { indent: 2, hang: 14 });
  page.gap();
  page.text("What agents see", { colour: page.palette.heading });
  line("surface", `${surface}, because ${printable(reason)}`);
  if (tokens?.full !== undefined)
    line(
      "tokens",
      `${tokens.short} for all short definitions, ${tokens.full} for the full ones (trunkline tools --tokens)`,
    );
  const names = favourites.map((favourite) => `${printable(favourite.name)} (${whyOf(favourite)})`);
  if (names.length > 0) line("favourites", names.join(", "));
  if (signed.length > 0)
    line("signatures", `${quantity(signed.length, "tool")}, in the descriptions of query and execute`);
  if (unmatched.length > 0) line("not found", `${unmatched.map(printable).join(", ")}, named in "favourites"`);
}

function whyOf({ why, uses }: SurfacePreview["favourites"][number]): string {
  if (why === "configured") return "in your settings";
  if (why === "project" || uses === undefined) return "in the project's settings";
  return `${quantity(uses.count, "use")} on ${quantity(uses.days, "day")}`;
}
