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

/** In a real browser: `npm run test:browser`. */
const BROWSER = ["test/browser/**/*.browser.test.ts"];

/** With real coding agents: `npm run test:agents`. */
const AGENTS = ["test/agents/**/*.agents.test.ts"];

const E2E = new URL("./test/e2e/", import.meta.url);

/**
 * End-to-end tests of commands that the broker runs, marked with this line in their head. The other tests never use it:
 * they run scripts, serve over HTTP, or name their own configuration or trust. test/broker compares single command
 * lines.
 */
const TAG = /^\/\/ @with-broker$/m;
const WITH_BROKER = readdirSync(E2E)
  .filter((name) => name.endsWith(".test.ts") && TAG.test(readFileSync(new URL(name, E2E), "utf8")))
  .map((name) => `test/e2e/${name}`);

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
    globalSetup: ["./test/support/left-processes.ts"],
    reporters: ["default", "./test/support/skipped-reporter.ts"],
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...SLOW, ...BROWSER, ...AGENTS],
        },
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
      {
        extends: true,
        test: {
          name: "browser",
          include: BROWSER,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          expect: { poll: { timeout: 60_000 } },
        },
      },
      {
        extends: true,
        test: {
          name: "agents",
          include: AGENTS,
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
      {
        extends: true,
        test: {
          name: "broker",
          include: WITH_BROKER,
          env: { TRUNKLINE_BROKER: "on" },
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
