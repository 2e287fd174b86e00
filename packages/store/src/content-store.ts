// The embedded store as the port that the server knows.
import {
  type ContentId,
  type ContentStore,
  STORE_OPERATIONS,
  type StoreOperation,
  type StoreOperationOptions,
  TrunklineError,
} from "@trunkline/core";
import type { Store } from "./store.js";

/** Gives an open store the shape of the port. Closing it closes the store. */
export function asContentStore(store: Store): ContentStore {
  const methods = store as unknown as Record<string, unknown>;
  // Operations are methods of the store under the same names; those that are still missing are not offered.
  const operations = STORE_OPERATIONS.filter((name) => typeof methods[name] === "function");
  return {
    put: (bytes, options) => store.put(bytes, options),
    get: (id, options) => store.bytes(id, options),
    has: (id, options) => store.has(id, options),
    resolve: (prefix, options): Promise<readonly ContentId[]> => store.resolve(prefix, options),
    operations,
    run: async (operation, params, options) => await run(store, { operation, params, options, operations }),
    onDocumentChanged: (listener) => store.onDocumentChanged(listener),
    [Symbol.asyncDispose]: () => store.close(),
  };
}

async function run(
  store: Store,
  call: {
    operation: StoreOperation;
    params: Readonly<Record<string, unknown>>;
    options: StoreOperationOptions | undefined;
    operations: readonly StoreOperation[];
  },
): Promise<Readonly<Record<string, unknown>>> {
  if (!call.operations.includes(call.operation)) {
    throw new TrunklineError("INVALID_ARGUMENT", `The store has no operation "${call.operation}".`);
  }
  // The server has checked the parameters against the operation's schema; the store checks values again where it matters.
  const method = (store as unknown as Record<string, Operation>)[call.operation] as Operation;
  return await method.call(store, call.params, call.options ?? {});
}

type Operation = (
  this: Store,
  params: Readonly<Record<string, unknown>>,
  options: StoreOperationOptions,
) => Promise<Readonly<Record<string, unknown>>>;
