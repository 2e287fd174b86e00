// The hooks in the thread where Node 20 runs them. Node calls these exports by name.
import { createHooks, type HookData } from "./module-hooks.js";

type Hooks = ReturnType<typeof createHooks>;

let hooks: Hooks | undefined;

/** Called first, with the data passed to `register`. */
export function initialize(data: HookData): void {
  hooks = createHooks(data, (message) => data.port?.postMessage(message));
}

export const resolve: Hooks["resolve"] = (specifier, context, next) => {
  return hooks === undefined ? next(specifier, context) : hooks.resolve(specifier, context, next);
};

export const load: Hooks["load"] = (url, context, next) => {
  return hooks === undefined ? next(url, context) : hooks.load(url, context, next);
};
