// The programs `trunkline install` supports: where they keep their servers, what an entry looks like, and how to check
// that it works.
import { access } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type EntryPlace, type ImportPlace, importSource } from "@trunkline/config";
import {
  isProgramId,
  isWithin,
  KNOWN_PROGRAMS,
  nearestNames,
  type ProgramId,
  realPathOf,
  resolvedPath,
  TrunklineError,
} from "@trunkline/core";

/** The command that starts Trunkline. */
export interface LaunchCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** A running `serve --http`. */
interface RemoteServer {
  readonly url: string;
  readonly token: string;
}

export interface AgentProgram {
  readonly id: ProgramId;
  readonly title: string;
  readonly format: EntryPlace["format"];
  /** The name of the servers table in its file. */
  readonly table: string;
  /** Whether the program is started from a shell and so has the shell's PATH. */
  readonly inShell: boolean;
  entry(launch: LaunchCommand): Readonly<Record<string, unknown>>;
  /** The entry for a server that is already running; undefined if the program only starts servers itself. */
  readonly remoteEntry?: (server: RemoteServer) => Readonly<Record<string, unknown>>;
  /** How to check that it works. */
  readonly check: string;
}

const plainEntry = ({ command, args }: LaunchCommand) => ({ command, args: [...args] });
const typedEntry = (launch: LaunchCommand) => ({ type: "stdio", ...plainEntry(launch) });

const bearer = ({ token }: RemoteServer) => ({ Authorization: `Bearer ${token}` });
const typedRemote = (server: RemoteServer) => ({ type: "http", url: server.url, headers: bearer(server) });
const plainRemote = (server: RemoteServer) => ({ url: server.url, headers: bearer(server) });

/** What `install` writes for each program, in listing order. */
const INSTALLED: Readonly<Record<ProgramId, Omit<AgentProgram, "id" | "title">>> = {
  "claude-code": {
    ...{ format: "json", table: "mcpServers", inShell: true },
    entry: typedEntry,
    remoteEntry: typedRemote,
    check: "Start a new Claude Code session; `claude mcp list` or /mcp shows it.",
  },
  "claude-desktop": {
    ...{ format: "json", table: "mcpServers", inShell: false },
    entry: plainEntry,
    check: "Quit and restart Claude Desktop; see Settings, Developer.",
  },
  cursor: {
    ...{ format: "json", table: "mcpServers", inShell: false },
    entry: plainEntry,
    remoteEntry: plainRemote,
    check: "See Cursor Settings, MCP, and switch it on if it is off.",
  },
  vscode: {
    ...{ format: "json", table: "servers", inShell: false },
    entry: typedEntry,
    remoteEntry: typedRemote,
    check: "Run the command `MCP: List Servers` in VS Code and start it there.",
  },
  codex: {
    ...{ format: "toml", table: "mcp_servers", inShell: true },
    entry: plainEntry,
    remoteEntry: (server) => ({ url: server.url, http_headers: bearer(server) }),
    check: "Start a new Codex session; `codex mcp list` or /mcp shows it.",
  },
  windsurf: {
    ...{ format: "json", table: "mcpServers", inShell: false },
    entry: plainEntry,
    remoteEntry: (server) => ({ serverUrl: server.url, headers: bearer(server) }),
    check: "Refresh the MCP servers in Windsurf's Cascade panel.",
  },
  zed: {
    ...{ format: "json", table: "context_servers", inShell: false },
    entry: (launch) => ({ source: "custom", ...plainEntry(launch), env: {} }),
    remoteEntry: (server) => ({ source: "custom", ...plainRemote(server) }),
    check: "The settings of Zed's Agent Panel show it with a green dot.",
  },
  gemini: {
    ...{ format: "json", table: "mcpServers", inShell: true },
    entry: plainEntry,
    remoteEntry: (server) => ({ httpUrl: server.url, headers: bearer(server) }),
    check: "Start a new Gemini CLI session; `gemini mcp list` or /mcp shows it.",
  },
  opencode: {
    ...{ format: "json", table: "mcp", inShell: true },
    entry: ({ command, args }) => ({ type: "local", command: [command, ...args], enabled: true }),
    remoteEntry: (server) => ({ type: "remote", ...plainRemote(server), enabled: true }),
    check: "Start a new opencode session; `opencode mcp list` shows it.",
  },
  cline: {
    ...{ format: "json", table: "mcpServers", inShell: false },
    entry: typedEntry,
    remoteEntry: (server) => ({ type: "streamableHttp", ...plainRemote(server) }),
    check: "See the MCP servers in Cline's panel.",
  },
  kiro: {
    ...{ format: "json", table: "mcpServers", inShell: false },
    entry: plainEntry,
    remoteEntry: plainRemote,
    check: "See the MCP servers in Kiro's panel, or /mcp in a new session of Kiro CLI.",
  },
};

/** Every program, in listing order. */
export const AGENT_PROGRAMS: readonly AgentProgram[] = Object.keys(INSTALLED)
  .filter(isProgramId)
  .map((id) => ({ id, title: KNOWN_PROGRAMS[id], ...INSTALLED[id] }));

/** Finds a program by id. Throws `USAGE` with the nearest id if there is none. */
export function agentProgram(id: string): AgentProgram {
  const found = AGENT_PROGRAMS.find((program) => program.id === id);
  if (found !== undefined) return found;
  const ids = AGENT_PROGRAMS.map((program) => program.id);
  const [near] = nearestNames(id, ids);
  throw new TrunklineError("USAGE", `There is no program "${id}" to install into.`, {
    hint: near === undefined ? `Known: ${ids.join(", ")}.` : `Did you mean ${near}?`,
  });
}

/** Returns the program's user file. If there are several editions, the first one on this machine. */
export async function userFile(program: AgentProgram, place: ImportPlace): Promise<string> {
  const files = importSource(program.id).userFiles(place);
  const [first] = files;
  for (const file of files) {
    if (await exists(file)) return file;
    // An edition that is installed and has no file yet. The same folder can have a file of another name.
    const beside = files.filter((other) => other !== file && dirname(other) === dirname(file));
    const others = await Promise.all(beside.map(exists));
    if (files.length > 1 && !others.includes(true) && (await exists(dirname(file)))) return file;
  }
  if (first === undefined) throw new TrunklineError("INTERNAL", `${program.title} has no file.`);
  return first;
}

/** Whether the program seems to be installed: it has a file or folder here. */
export async function isPresent(program: AgentProgram, place: ImportPlace): Promise<boolean> {
  const file = await userFile(program, place);
  return (await exists(file)) || (dirname(file) !== place.userHome && (await exists(dirname(file))));
}

/**
 * Returns the program's project file: an existing one in this folder or above, or else one in the project's root. The
 * file in the user's home folder is the user's own.
 */
export async function projectFile(program: AgentProgram, cwd: string, userHome: string): Promise<string> {
  const [relative] = importSource(program.id).projectFiles;
  if (relative === undefined) {
    throw new TrunklineError("USAGE", `${program.title} has no project configuration.`, {
      hint: "Omit --project.",
    });
  }
  let root = cwd;
  for (let folder = cwd; folder === cwd || !isWithin(userHome, folder); folder = dirname(folder)) {
    const file = join(folder, relative);
    if (await exists(file)) return await insideProject(file, folder);
    if (await exists(join(folder, ".git"))) {
      root = folder;
      break;
    }
    if (dirname(folder) === folder) break;
  }
  return await insideProject(join(root, relative), root);
}

/** A project must not redirect what the user writes to its file to another file of the user. */
async function insideProject(file: string, project: string): Promise<string> {
  if (isWithin(realPathOf(await resolvedPath(file)), realPathOf(project))) return file;
  throw new TrunklineError("CONFIG_INVALID", `${file} leads out of the project through a symbolic link.`, {
    hint: "Replace the link with a file, or omit --project.",
  });
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
