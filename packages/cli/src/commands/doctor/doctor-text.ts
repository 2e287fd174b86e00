// The text of `trunkline doctor`: one section for each server, as soon as it is known. Lines fit the terminal.
import type { LoadedConfig, ServerStatus } from "@trunkline/client";
import type { RenamedTool } from "@trunkline/client/internal";
import { formatMs, type SourcedTool } from "@trunkline/core";
import { diagnosticText } from "../../app/config-problems.js";
import { serverProblem, serverTarget } from "../../app/server-problem.js";
import { commandLine } from "../../terminal/command-line.js";
import { meaningOf } from "../../terminal/palette.js";
import type { Page } from "../../terminal/report-page.js";
import { unbroken } from "../../terminal/text-width.js";

/** How many stderr lines of a failed server to show. */
const STDERR_LINES = 5;
/** How many tool names to list; the rest are only counted. */
const SHOWN_NAMES = 15;

/** Prints what is known before anything is connected. */
export function showHead(page: Page, { version, config }: { version: string; config: LoadedConfig }): void {
  const { palette } = page;
  page.text(`trunkline ${version}, node ${process.version}, ${process.platform}-${process.arch}`, {
    colour: palette.dim,
  });
  const used = config.files.filter(({ exists }) => exists);
  if (used.length === 0) page.text(`configuration: none found (looked for ${config.path})`);
  for (const [index, { path, scope }] of used.entries())
    page.text(`${index === 0 ? "configuration:" : "           and:"} ${path} (${scope})`);
  for (const diagnostic of config.diagnostics) {
    page.text(diagnosticText(diagnostic), { indent: 2, colour: palette[meaningOf(diagnostic.severity)] });
  }
  if (config.servers.length > 0) return;
  page.gap();
  if (used.length > 0 && config.diagnostics.some(({ severity }) => severity !== "note")) {
    page.text("No server is usable. Fix the problems above.");
    return;
  }
  page.text("No MCP server is configured. Add one, or import from another program:");
  page.text("trunkline servers add everything -- npx -y @modelcontextprotocol/server-everything", { indent: 2 });
  page.text("trunkline import", { indent: 2 });
}

interface ServerFacts {
  readonly tools: readonly SourcedTool[];
  /** Tools that the server listed before, but not now. */
  readonly gone: readonly string[];
  /** Names a tool so that it can be pasted into a command. */
  readonly addressOf: (tool: SourcedTool) => string;
}

/** Prints the section of one server. */
export function showServer(page: Page, status: ServerStatus, { tools, gone, addressOf }: ServerFacts): void {
  const { palette } = page;
  const { name, state, config, error, toolsError } = status;
  const target = serverTarget(config);
  const problem = serverProblem(status);
  page.gap();
  switch (state) {
    case "connected": {
      const [mark, colour] = toolsError === undefined ? ["✓", palette.success] : ["✗", palette.error];
      page.title(mark, name, { what: target, colour });
      page.text(factsOf(status), { indent: 4, colour: palette.dim });
      if (toolsError === undefined) {
        const own = tools.filter(({ server }) => server === name);
        page.text(toolLine(own.map(addressOf)), { indent: 4 });
        if (gone.length > 0) page.text(goneLine(gone), { indent: 4, colour: palette.dim });
      } else page.text(problem?.message ?? "", { indent: 4, colour: palette.error });
      return;
    }
    case "disabled":
      page.title("-", name, { what: problem?.message ?? "", colour: palette.dim });
      if (problem?.hint !== undefined) page.text(`next: ${problem.hint}`, { indent: 4 });
      return;
    case "untrusted":
      page.title("?", name, { what: target, colour: palette.warning });
      // One line at the end says what to do about all of them.
      page.text(problem?.message ?? "", { indent: 4 });
      return;
    case "failed":
    case "needs-auth":
    case "pending":
      page.title("✗", name, { what: target, colour: palette.error });
      page.text(problem?.message ?? "", { indent: 4, colour: palette.error });
      // The message of a server that exited quotes them already.
      for (const line of status.stderr.slice(-STDERR_LINES).filter((each) => !error?.message.includes(each.trim())))
        page.text(`stderr: ${line}`, { indent: 4, colour: palette.dim });
      if (problem?.hint !== undefined) page.text(`next: ${problem.hint}`, { indent: 4 });
  }
}

/** Prints what concerns several servers. */
export function showRest(
  page: Page,
  { servers, renamed }: { servers: readonly ServerStatus[]; renamed: readonly RenamedTool[] },
): void {
  const untrusted = servers.filter(({ state }) => state === "untrusted");
  if (untrusted.length > 0) {
    page.gap();
    page.text(
      `${untrusted.length} ${untrusted.length === 1 ? "server comes" : "servers come"} from a project file that you have not approved. Review and approve: trunkline trust`,
      { colour: page.palette.warning },
    );
  }
  if (renamed.length > 0) {
    page.gap();
    page.text("Tools that had to be renamed, because their names collide or are too long:");
    for (const { server, tool, style, name } of renamed)
      page.text(`${server}.${tool}  as ${style}: ${name}`, { indent: 2 });
  }
}

function factsOf({ serverInfo, revision, tookMs, resourceCount, promptCount, signIn }: ServerStatus): string {
  const facts = [
    serverInfo === undefined ? undefined : `${serverInfo.name} ${serverInfo.version}`,
    `revision ${revision ?? "unknown"}`,
    tookMs === undefined ? undefined : formatMs(tookMs),
    counted(resourceCount, "resource"),
    counted(promptCount, "prompt"),
    signIn?.signedIn ? "signed in" : undefined,
  ];
  return facts
    .filter((fact) => fact !== undefined)
    .map(unbroken)
    .join(", ");
}

/** Lists tools by names that `call` and `--tool` accept. */
function toolLine(names: readonly string[]): string {
  if (names.length === 0) return "no tools";
  const shown = names.slice(0, SHOWN_NAMES).map((name) => commandLine([name]));
  const more = names.length - SHOWN_NAMES;
  return `${names.length} ${names.length === 1 ? "tool" : "tools"}: ${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Many servers list other tools to a client that can answer their questions: an editor, or a person at a terminal. */
function goneLine(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN_NAMES).join(", ");
  const more = names.length - SHOWN_NAMES;
  const rest = more > 0 ? ` and ${more} more` : "";
  return `listed earlier, but not now: ${shown}${rest}. A server can list more tools to a client that answers its questions.`;
}

function counted(count: number, what: string): string | undefined {
  return count === 0 ? undefined : `${count} ${what}${count === 1 ? "" : "s"}`;
}
