import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { sourceThreads } from "./test/support/source-threads.js";

const PACKAGES = new URL("./packages/", import.meta.url);

/** Maps each entry point of a package to its source file instead of the build. */
function sourceAliases(): { find: RegExp; replacement: string }[] {
  return readdirSync(PACKAGES).flatMap((folder) => {
    const { name, exports } = JSON.parse(readFileSync(new URL(`${folder}/package.json`, PACKAGES), "utf8"));
    return Object.entries<{ default: string }>(exports).map(([entry, { default: built }]) => {
      const source = built.replace(/^\.\/dist\//, `${folder}/src/`).replace(/\.js$/, ".ts");
      return {
        find: new RegExp(`^${name}${entry.slice(1)}$`),
        replacement: fileURLToPath(new URL(source, PACKAGES)),
      };
    });
  });
}

/** Slow by nature: many processes, real time, registries, packaging, hundreds of crashes. */
const SLOW = ["**/*.slow.test.ts"];

const alias = sourceAliases();

export default defineConfig({
  // Tests run the sources, even in threads. Only tests that start `trunkline` as a process need a build.
  resolve: { alias },
  plugins: [sourceThreads(alias)],
  test: {
    // These timeouts only catch hangs. Even a loaded machine must not reach them.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 240_000 } },
    maxWorkers: 3,
    reporters: ["default", "./test/support/skipped-reporter.ts"],
    projects: [
      {
        extends: true,
        test: { name: "fast", include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"], exclude: SLOW },
      },
      {
        extends: true,
        test: {
          name: "slow",
          include: SLOW,
          exclude: ["**/node_modules/**"],
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
