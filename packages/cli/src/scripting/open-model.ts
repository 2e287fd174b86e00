// Resolves a script's model settings to a model.

import type { Model, ModelOptions } from "@trunkline/agent";
import { withoutUndefined } from "@trunkline/core";
import { world } from "./world.js";

/**
 * Opens the configured model, one by id, or one with its own settings; missing settings come from the configuration.
 */
export async function openModel(settings: string | Partial<ModelOptions> = {}): Promise<Model> {
  const own = typeof settings === "string" ? { model: settings } : settings;
  const [{ createModel }, { readModelSettings }] = await Promise.all([
    import("@trunkline/agent"),
    import("../agent/model-settings.js"),
  ]);
  const { provider, model, endpoint } = own;
  const { options } = await readModelSettings(world().context, {
    provider,
    model,
    endpoint,
  });
  return createModel({ ...options, ...withoutUndefined(own), provider: options.provider, model: options.model });
}
