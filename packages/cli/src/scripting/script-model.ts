// `model` of the module `trunkline`.
import type { Model, ModelOptions } from "@trunkline/agent";
import { atCallSite } from "./call-site.js";
import { openModel } from "./open-model.js";
import { type RunOptions, runAgent } from "./run-agent.js";

export type AskOptions = Pick<RunOptions, "model" | "think" | "signal" | "record" | "replay">;

/** Models. The environment sets the model, the endpoint and the key, as for `trunkline ask`. */
export interface ScriptModel {
  /** Opens the configured model, one by id, or one with its own settings. */
  (settings?: string | Partial<ModelOptions>): Promise<Model>;
  /** Asks one question and returns the answer, without tools. */
  ask(prompt: string, options?: AskOptions): Promise<string>;
}

async function ask(prompt: string, options: AskOptions = {}): Promise<string> {
  return await atCallSite(ask, async () => (await runAgent("tools", prompt, options)).text);
}

export const model: ScriptModel = Object.assign(
  async (settings?: string | Partial<ModelOptions>) => await atCallSite(model, () => openModel(settings)),
  { ask },
);
