import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: {
    // Unit tests run against the sources of all packages; end-to-end tests start the built command as a user would.
    alias: [
      {
        find: /^@trunkline\/client\/config$/,
        replacement: fileURLToPath(new URL("./packages/client/src/config/index.ts", import.meta.url)),
      },
      {
        find: /^@trunkline\/(\w+)$/,
        replacement: fileURLToPath(new URL("./packages/$1/src/index.ts", import.meta.url)),
      },
    ],
  },
  test: {
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    // Real processes on two cores: a few seconds are normal, a minute is a hang.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // They wait for other processes much of the time: two workers leave a fifth of two cores idle.
    maxWorkers: 3,
  },
});
