// The model section of `trunkline doctor`: asks one tiny question.
import { createModel, textMessage } from "@trunkline/agent";
import { formatMs, isTrunklineError, startDeadline, type TrunklineError, toTrunklineError } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";
import type { Page } from "../terminal/report-page.js";
import { findModelSettings, type ModelSettings } from "./model-settings.js";

interface ModelCheck {
  readonly status: "ok" | "failed" | "needs-key";
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly endpoint: string | undefined;
  readonly tookMs: number | undefined;
  readonly error: TrunklineError | undefined;
}

const QUESTION = "Answer with the word ok.";
const MAX_OUTPUT_TOKENS = 16;
const MAX_TIMEOUT_MS = 20_000;

/** Asks the configured model; undefined if there is none. */
export async function checkModel(
  context: CommandContext,
  { timeoutMs }: { timeoutMs: number },
): Promise<ModelCheck | undefined> {
  let settings: ModelSettings | undefined;
  try {
    settings = await findModelSettings(context, {});
    return settings === undefined ? undefined : await askTiny(context, settings, timeoutMs);
  } catch (error) {
    if (context.signal.aborted) throw error;
    const known = toTrunklineError(error);
    return {
      ...placeOf(settings),
      status: isTrunklineError(known, "AUTH_REQUIRED") ? "needs-key" : "failed",
      tookMs: undefined,
      error: known,
    };
  }
}

function placeOf(settings: ModelSettings | undefined): Pick<ModelCheck, "provider" | "model" | "endpoint"> {
  return {
    provider: settings?.provider.name,
    model: settings?.options.model,
    endpoint: settings?.options.endpoint ?? settings?.provider.endpoint,
  };
}

async function askTiny(context: CommandContext, settings: ModelSettings, timeoutMs: number): Promise<ModelCheck> {
  const model = createModel({ ...settings.options, retry: false });
  using deadline = startDeadline({
    timeoutMs: Math.min(timeoutMs, MAX_TIMEOUT_MS),
    signal: context.signal,
    what: `Asking ${model.provider} (${model.id})`,
    hint: settings.provider.unreachableHint,
  });
  const startMs = performance.now();
  try {
    for await (const _ of model.stream({
      messages: [textMessage("user", QUESTION)],
      maxOutputTokens: MAX_OUTPUT_TOKENS,
      signal: deadline.signal,
    })) {
      // Any answer will do.
    }
  } catch (error) {
    throw deadline.signal.aborted && !context.signal.aborted ? deadline.signal.reason : error;
  }
  return { ...placeOf(settings), status: "ok", tookMs: performance.now() - startMs, error: undefined };
}

export function jsonModel({ status, provider, model, endpoint, tookMs, error }: ModelCheck) {
  return {
    status,
    provider: provider ?? null,
    model: model ?? null,
    endpoint: endpoint ?? null,
    took_ms: tookMs === undefined ? null : Math.round(tookMs),
    error: error?.toJSON() ?? null,
  };
}

export function showModel(page: Page, { status, provider, model, endpoint, tookMs, error }: ModelCheck): void {
  const { palette } = page;
  const name = provider === undefined ? "not usable" : `${provider}/${model}`;
  const what = endpoint === undefined ? name : `${name} at ${endpoint}`;
  page.gap();
  if (status === "ok") {
    page.title("✓", "model", { what, colour: palette.success });
    page.text(`answered in ${formatMs(tookMs ?? 0)}`, { indent: 4, colour: palette.dim });
    return;
  }
  page.title("✗", "model", { what, colour: palette.error });
  page.text(`${error?.code ?? "FAILED"}: ${error?.message ?? "no answer"}`, { indent: 4, colour: palette.error });
  if (error?.hint !== undefined) page.text(`next: ${error.hint}`, { indent: 4 });
}
