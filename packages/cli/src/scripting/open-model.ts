// From what a script says about a model to the model.
import type { Model, ModelOptions } from "@trunkline/agent";
import { world } from "./world.js";

/** The model that is set up, one by its id, or one with settings of its own; what it does not say is that of the set-up. */
export async function openModel(settings: string | Partial<ModelOptions> = {}): Promise<Model> {
  const own = typeof settings === "string" ? { model: settings } : settings;
  const [{ createModel }, { readModelSettings }] = await Promise.all([
    import("@trunkline/agent"),
    import("../agent/model-settings.js"),
  ]);
  const { provider, model, endpoint } = own;
  const { options } = await readModelSettings(world().context, {
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(endpoint === undefined ? {} : { endpoint }),
  });
  return createModel({ ...options, ...own, provider: options.provider, model: options.model });
}
