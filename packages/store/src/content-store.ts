// Adapts a store of either engine to the server's port: operations by their wire names.
import { type ContentStore, TrunklineError } from "@trunkline/core";
import type { AnyStore } from "./any-store.js";
import {
  camelCase,
  fromWire,
  OPERATIONS,
  type StoreCallOptions,
  type StoreMethods,
  storeOperations,
  toWire,
} from "./contract/index.js";
import type { Store } from "./store.js";

/** What the port needs of a store, whatever its engine. */
type PortStore = StoreMethods &
  Pick<Store, "put" | "bytes" | "has" | "resolve" | "onDocumentChanged" | "close"> &
  Pick<AnyStore, "followDocuments">;

/** Wraps an open store as a {@link ContentStore}. Closing it closes the store. */
export function asContentStore(store: PortStore): ContentStore {
  return viewedBy(store, undefined);
}

function viewedBy(store: PortStore, principal: string | undefined): ContentStore {
  // The compiler has checked that the class has a method for each operation; only the name is dynamic.
  const methods = store as unknown as Readonly<Record<string, Method>>;
  return {
    put: (bytes, options) => store.put(bytes, options),
    get: (id, options) => store.bytes(id, { ...options, principal }),
    has: (id, options) => store.has(id, { ...options, principal }),
    resolve: (prefix, options) => store.resolve(prefix, { ...options, principal }),
    viewedBy: (other) => viewedBy(store, other),
    operations: storeOperations,
    run: async (operation, params, options = {}) => {
      if (!Object.hasOwn(OPERATIONS, operation)) {
        throw new TrunklineError("INVALID_ARGUMENT", `The store has no operation "${operation}".`);
      }
      const method = methods[camelCase(operation)] as Method;
      // The server has validated the parameters; the store checks values again when it matters.
      const result = await method.call(store, fromWire(params), { ...options, principal });
      return toWire(result) as Readonly<Record<string, unknown>>;
    },
    onDocumentChanged: async (listener) =>
      (await store.followDocuments?.(listener)) ?? store.onDocumentChanged(listener),
    [Symbol.asyncDispose]: () => store.close(),
  };
}

type Method = (
  this: PortStore,
  params: Readonly<Record<string, unknown>>,
  options: StoreCallOptions,
) => Promise<object>;
