/** The content store on PostgreSQL: one memory for any number of gateways. */

export { isPostgresUrl, placeOf, withoutPassword } from "./database/address.js";
export { SCHEMA_VERSION } from "./database/migrate.js";
export { type FoundPassword, findPassword, type PasswordPlaces } from "./database/password-file.js";
export { openPgDriver } from "./database/pg-driver.js";
export type { Driver, DriverConnection } from "./database/sql.js";
export { initPostgresStore, type OpenPostgresStoreOptions, openPostgresStore } from "./open-postgres-store.js";
export { PostgresStore } from "./postgres-store.js";
export type { EmbeddedStore, OpenEmbedded } from "./transfer/export-files.js";
