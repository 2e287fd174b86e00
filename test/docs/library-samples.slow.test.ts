// Runs the library's programs in the documentation exactly as printed, with plain Node, in a project that installed the
// packages from the repository with npm, as the pages say.
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { postgresBinaries, startPostgres } from "../../packages/store-postgres/test/support/postgres-cluster.js";
import { outcomeOf, root } from "../e2e/command.js";
import { type Block, blocksOf, PAGES, readPage } from "./pages.js";
import { Shell } from "./shell.js";
import { matches } from "./shown-output.js";

/** All libraries but the largest, which downloads a model. */
const PACKAGES = readdirSync(join(root, "packages"))
  .filter((name) => !["cli", "console", "daemon", "embed"].includes(name))
  .map((name) => join(root, "packages", name));
/** Its program needs a database. */
const TEAM_PAGE = "packages/store-postgres/README.md";
const binaries = postgresBinaries();
const everything = join(root, "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js");

interface Sample {
  readonly file: string;
  /** The output shown below the command that runs it. */
  readonly output: string | undefined;
}

const fileOf = ({ marks }: Block) => marks.find((mark) => mark.startsWith("file="))?.slice("file=".length);

/** Lists the programs that import packages of the library, in order. */
function samplesOf(blocks: readonly Block[]): Sample[] {
  return blocks.flatMap((block) => {
    const file = fileOf(block);
    if (file === undefined || !/from "@trunkline\//.test(block.text)) return [];
    const at = blocks.findIndex(({ language, text }) => language === "sh" && text.trim() === `trunkline run ${file}`);
    const next = at === -1 ? undefined : blocks[at + 1];
    return [{ file, output: next?.isRightBelow && next.language === "text" ? next.text : undefined }];
  });
}

/** A project with the packages, and a user who has the server that the pages use. */
async function readersProject(): Promise<Shell> {
  const shell = new Shell();
  const settings = { mcpServers: { everything: { command: process.execPath, args: [everything] } } };
  shell.place.write("../home/.trunkline/settings.json", settings);
  const env = { PATH: process.env.PATH, HOME: shell.place.home };
  const npm = await run(shell, "npm", { args: ["install", "--offline", "--no-audit", "--no-fund", ...PACKAGES], env });
  expect(npm.code, npm.stderr).toBe(0);
  return shell;
}

async function run({ place }: Shell, command: string, { args, env }: { args: string[]; env: NodeJS.ProcessEnv }) {
  return await outcomeOf(spawn(command, args, { cwd: place.cwd, env, stdio: ["ignore", "pipe", "pipe"] }));
}

const pages = PAGES.filter((page) => {
  const blocks = blocksOf(readPage(page));
  // Programs that need a person at a browser run with the commands of their page.
  return samplesOf(blocks).length > 0 && !blocks.some(({ marks }) => marks.includes("with-browser"));
});

describe("the library's programs in", () => {
  it("these pages are found", () => {
    expect(pages).toEqual([
      "README.md",
      "docs/guides/embed-the-client.md",
      "docs/guides/embed-the-library.md",
      "packages/agent/README.md",
      "packages/client/README.md",
      "packages/code-graph/README.md",
      "packages/config/README.md",
      "packages/core/README.md",
      "packages/grep/README.md",
      "packages/protocol/README.md",
      "packages/store/README.md",
      "packages/store-postgres/README.md",
    ]);
  });

  it.each(pages.filter((page) => page !== TEAM_PAGE || binaries !== undefined))("%s run as printed", async (page) => {
    using shell = await readersProject();
    await using cluster = page === TEAM_PAGE ? await startPostgres(binaries as string) : undefined;
    const env = { ...shell.env, ...(cluster === undefined ? {} : { DATABASE_URL: cluster.createDatabase() }) };
    const blocks = blocksOf(readPage(page));
    for (const block of blocks) {
      const file = fileOf(block);
      if (file !== undefined) shell.place.write(file, block.text);
    }
    for (const { file, output } of samplesOf(blocks)) {
      const { code, stdout, stderr } = await run(shell, process.execPath, { args: [file], env });
      const where = `${page}: ${file}\n${stdout}${stderr}`;
      expect(code, where).toBe(0);
      if (output !== undefined && !matches(stdout, output)) expect(stdout, where).toBe(output);
    }
  });
});
