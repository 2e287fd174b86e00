/** The content store on PostgreSQL: one memory for any number of gateways. */

export { placeOf } from "./database/address.js";
export { SCHEMA_VERSION } from "./database/migrate.js";
export { findPassword } from "./database/password-file.js";
export { openPgDriver } from "./database/pg-driver.js";
export { initPostgresStore, openPostgresStore } from "./open-postgres-store.js";
export { PostgresStore } from "./postgres-store.js";
