// `model` of the module `trunkline`.
import type { Model, ModelOptions } from "@trunkline/agent";
import { atCallSite } from "./call-site.js";
import { openModel } from "./open-model.js";
import { type RunOptions, runAgent } from "./run-agent.js";

export type AskOptions = Pick<RunOptions, "model" | "think" | "signal" | "record" | "replay">;

/** Models. The environment selects which one, where and with what key, as for `trunkline ask`. */
export interface ScriptModel {
  /** A model: the configured one, one by id, or one with its own settings. */
  (settings?: string | Partial<ModelOptions>): Promise<Model>;
  /** One question, one answer, no tools. */
  ask(prompt: string, options?: AskOptions): Promise<string>;
}

async function ask(prompt: string, options: AskOptions = {}): Promise<string> {
  return await atCallSite(ask, async () => (await runAgent("tools", prompt, options)).text);
}

export const model: ScriptModel = Object.assign(
  async (settings?: string | Partial<ModelOptions>) => await atCallSite(model, () => openModel(settings)),
  { ask },
);
