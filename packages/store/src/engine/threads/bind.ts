// Operations as handlers: each is given its environment once.
import type { Call } from "./rpc.js";

type Bound<F> = F extends (env: never, params: infer P, call: Call) => infer R ? (params: P, call: Call) => R : never;

/** A table of operations over one environment. */
export function bind<E, T extends Record<string, (env: E, params: never, call: Call) => unknown>>(
  env: E,
  table: T,
): { [M in keyof T]: Bound<T[M]> } {
  const bound = Object.entries(table).map(([name, run]) => [
    name,
    (params: never, call: Call) => run(env, params, call),
  ]);
  // Object.fromEntries forgets which handler stands under which name.
  return Object.fromEntries(bound) as { [M in keyof T]: Bound<T[M]> };
}
