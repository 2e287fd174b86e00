// The hooks in the thread that Node 20 runs them in. Node calls what is exported here by name.
import { createHooks, type HookData } from "./module-hooks.js";

type Hooks = ReturnType<typeof createHooks>;

let hooks: Hooks | undefined;

/** Called first, with what `register` was given. */
export function initialize(data: HookData): void {
  hooks = createHooks(data, (message) => data.port?.postMessage(message));
}

/** Node's hook of that name. */
export const resolve: Hooks["resolve"] = (specifier, context, next) => {
  return hooks === undefined ? next(specifier, context) : hooks.resolve(specifier, context, next);
};

/** Node's hook of that name. */
export const load: Hooks["load"] = (url, context, next) => {
  return hooks === undefined ? next(url, context) : hooks.load(url, context, next);
};
