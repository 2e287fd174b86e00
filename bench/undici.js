// undici as the client package has it: another package may put a different version at the top of the workspace.
import { createRequire } from "node:module";

const require = createRequire(new URL("../packages/client/package.json", import.meta.url));

/** @type {{ Pool: typeof import("undici").Pool }} */
// biome-ignore lint/correctness/noUndeclaredDependencies: resolved from the client package, which has it
export const { Pool } = require("undici");
