/** The embedded content store: one folder, several processes, everything off the main thread. */
export type { AnyStore } from "./any-store.js";
export { asContentStore } from "./content-store.js";
export type * from "./contract/index.js";
export { storeOperations } from "./contract/index.js";
export { requireDriver } from "./engine/sqlite/driver.js";
export { copyStore } from "./maintenance/copy-store.js";
export { type OpenStoreOptions, openStore } from "./open-store.js";
export { Store } from "./store.js";
