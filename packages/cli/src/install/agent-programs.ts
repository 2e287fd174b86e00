// The programs that `trunkline install` can put Trunkline into: where they keep their servers, what an entry looks like
// there, and how to see that it works.
import { access } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type EntryPlace, type ImportPlace, importSource } from "@trunkline/client/config";
import { nearestNames, TrunklineError } from "@trunkline/core";

/** What starts Trunkline. */
export interface LaunchCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** One program. */
export interface AgentProgram {
  readonly id: string;
  readonly title: string;
  readonly format: EntryPlace["format"];
  /** The table of servers in its file. */
  readonly table: string;
  /** Whether it is started from a shell, and so knows the PATH that the shell knows. */
  readonly inShell: boolean;
  entry(launch: LaunchCommand): Readonly<Record<string, unknown>>;
  /** What to do to see that it works. */
  readonly check: string;
}

const plainEntry = ({ command, args }: LaunchCommand) => ({ command, args: [...args] });
const typedEntry = (launch: LaunchCommand) => ({ type: "stdio", ...plainEntry(launch) });

/** Every program, in the order in which they are listed. */
export const AGENT_PROGRAMS: readonly AgentProgram[] = [
  {
    ...{ id: "claude-code", title: "Claude Code", format: "json", table: "mcpServers", inShell: true },
    entry: typedEntry,
    check: "Start a new session of Claude Code; `claude mcp list` or /mcp shows it.",
  },
  {
    ...{ id: "claude-desktop", title: "Claude Desktop", format: "json", table: "mcpServers", inShell: false },
    entry: plainEntry,
    check: "Quit Claude Desktop and start it again; Settings, Developer shows it.",
  },
  {
    ...{ id: "cursor", title: "Cursor", format: "json", table: "mcpServers", inShell: false },
    entry: plainEntry,
    check: "Cursor Settings, MCP shows it, and switches it on where it is off.",
  },
  {
    ...{ id: "vscode", title: "VS Code", format: "json", table: "servers", inShell: false },
    entry: typedEntry,
    check: "Run the command `MCP: List Servers` in VS Code and start it there.",
  },
  {
    ...{ id: "codex", title: "Codex", format: "toml", table: "mcp_servers", inShell: true },
    entry: plainEntry,
    check: "Start a new session of Codex; `codex mcp list` or /mcp shows it.",
  },
  {
    ...{ id: "windsurf", title: "Windsurf", format: "json", table: "mcpServers", inShell: false },
    entry: plainEntry,
    check: "Refresh the MCP servers in Windsurf's Cascade panel.",
  },
  {
    ...{ id: "zed", title: "Zed", format: "json", table: "context_servers", inShell: false },
    entry: (launch) => ({ source: "custom", ...plainEntry(launch), env: {} }),
    check: "The settings of Zed's Agent Panel show it with a green dot.",
  },
  {
    ...{ id: "gemini", title: "Gemini CLI", format: "json", table: "mcpServers", inShell: true },
    entry: plainEntry,
    check: "Start a new session of Gemini CLI; `gemini mcp list` or /mcp shows it.",
  },
];

/** The program with this id. Throws `USAGE` with the nearest one. */
export function agentProgram(id: string): AgentProgram {
  const found = AGENT_PROGRAMS.find((program) => program.id === id);
  if (found !== undefined) return found;
  const ids = AGENT_PROGRAMS.map((program) => program.id);
  const [near] = nearestNames(id, ids);
  throw new TrunklineError("USAGE", `There is no program "${id}" to install into.`, {
    hint: near === undefined ? `Known: ${ids.join(", ")}.` : `Did you mean ${near}?`,
  });
}

/** The file that the program keeps for the user. Of several editions, the first one that is on this machine. */
export async function userFile(program: AgentProgram, place: ImportPlace): Promise<string> {
  if (program.id === "claude-code" && place.env.CLAUDE_CONFIG_DIR)
    return join(place.env.CLAUDE_CONFIG_DIR, ".claude.json");
  const files = importSource(program.id).userFiles(place);
  for (const file of files)
    if ((await exists(file)) || (files.length > 1 && (await exists(dirname(file))))) return file;
  const [first] = files;
  if (first === undefined) throw new TrunklineError("INTERNAL", `${program.title} has no file.`);
  return first;
}

/** Whether the program seems to be on this machine: it has a file or a folder of its own here. */
export async function isPresent(program: AgentProgram, place: ImportPlace): Promise<boolean> {
  const file = await userFile(program, place);
  return (await exists(file)) || (dirname(file) !== place.userHome && (await exists(dirname(file))));
}

/** The file that the program keeps in a project: one that is there, here or above, else one in the project's root. */
export async function projectFile(program: AgentProgram, cwd: string): Promise<string> {
  const [relative] = importSource(program.id).projectFiles;
  if (relative === undefined) {
    throw new TrunklineError("USAGE", `${program.title} has no configuration for a project.`, {
      hint: "Leave --project out.",
    });
  }
  let root = cwd;
  for (let folder = cwd; ; folder = dirname(folder)) {
    const file = join(folder, relative);
    if (await exists(file)) return file;
    if (await exists(join(folder, ".git"))) {
      root = folder;
      break;
    }
    if (dirname(folder) === folder) break;
  }
  return join(root, relative);
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
