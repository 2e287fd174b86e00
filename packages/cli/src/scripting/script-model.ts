// `model` of the module `trunkline`.
import type { Model, ModelOptions } from "@trunkline/agent";
import { atCallSite } from "./call-site.js";
import { openModel } from "./open-model.js";
import { type RunOptions, runAgent } from "./run-agent.js";

/** How one question is asked. */
export type AskOptions = Pick<RunOptions, "model" | "think" | "signal" | "record" | "replay">;

/** Models. Which one, where and with what key comes from the environment, as for `trunkline ask`. */
export interface ScriptModel {
  /** A model: the one that is set up, one by its id, or one with settings of its own. */
  (settings?: string | Partial<ModelOptions>): Promise<Model>;
  /** One question, one answer, no tools. */
  ask(prompt: string, options?: AskOptions): Promise<string>;
}

async function ask(prompt: string, options: AskOptions = {}): Promise<string> {
  return await atCallSite(ask, async () => (await runAgent("tools", prompt, options)).text);
}

/** The models of this program. */
export const model: ScriptModel = Object.assign(
  async (settings?: string | Partial<ModelOptions>) => await atCallSite(model, () => openModel(settings)),
  { ask },
);
