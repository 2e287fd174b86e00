// The programs that keep their servers in JSON. Codex uses TOML and has its own file.
import { posix, win32 } from "node:path";
import { isRecord, type ProgramId } from "@trunkline/core";
import type { InputDefinition } from "../written-entry.js";
import {
  CALL_SECONDS,
  CONNECT_SECONDS,
  type EntryFields,
  type EntryReader,
  entryOf,
  toolFilter,
} from "./entry-reader.js";
import type { ImportContext, ImportedServer, ImportPlace, ProgramReader } from "./imported-server.js";
import { asItIs, cline, cursor, gemini, kiro, likeOurs, opencode, vsCode, windsurf } from "./program-variables.js";
import { parseJsonFile, type ReadEntry, readServers } from "./read-servers.js";

/** Joins paths by the rules of the given platform, regardless of the one this process runs on. */
export function joinOn(platform: NodeJS.Platform, ...parts: string[]): string {
  return (platform === "win32" ? win32 : posix).join(...parts);
}

/** Returns where programs keep user data: Application Support, %APPDATA% or ~/.config. */
function applicationFolder({ platform, userHome, env }: ImportPlace): string {
  if (platform === "darwin") return joinOn(platform, userHome, "Library", "Application Support");
  if (platform === "win32") return env.APPDATA || joinOn(platform, userHome, "AppData", "Roaming");
  return configFolder({ platform, userHome, env });
}

/** Returns ~/.config, even on macOS, for programs that follow Unix conventions everywhere. */
function configFolder({ platform, userHome, env }: ImportPlace): string {
  return env.XDG_CONFIG_HOME || joinOn(platform, userHome, ".config");
}

/** Reads `type` as programs spell it; undefined if absent, null if unsupported. */
function transportOf(value: unknown): "stdio" | "http" | "sse" | undefined | null {
  if (value === undefined) return undefined;
  switch (String(value).toLowerCase().replace(/[-_]/g, "")) {
    case "stdio":
    case "local":
      return "stdio";
    case "http":
    case "streamablehttp":
    case "remote":
      return "http";
    case "sse":
      return "sse";
    default:
      return null;
  }
}

/** How programs with the usual fields differ. */
interface Usual {
  typeField?: string;
  /** Fields that can hold the URL, strongest first, and the transport each implies when no type is given. */
  urlFields?: readonly (readonly [field: string, type: "http" | "sse"])[];
  /** Fields that only this program has. */
  rest?: (reader: EntryReader) => EntryFields;
}

/** Reads command, args, env, cwd, url and headers, which nearly all programs have. */
function usual(options: Usual = {}): ReadEntry {
  const { typeField = "type", urlFields = [["url", "http"]], rest = () => ({}) } = options;
  return (reader) => {
    const stated = transportOf(reader.raw(typeField));
    if (stated === null) return { skipped: `its type ${JSON.stringify(reader.raw(typeField))} is not supported` };
    const command = reader.raw("command") === undefined ? undefined : reader.text("command");
    const address = urlFields.find(([field]) => typeof reader.raw(field) === "string");
    if (command !== undefined && stated !== "http" && stated !== "sse") {
      return entryOf({
        command,
        args: reader.texts("args"),
        env: reader.map("env"),
        envFile: reader.text("envFile"),
        cwd: reader.text("cwd"),
        disabled: reader.flag("disabled"),
        ...rest(reader),
      });
    }
    if (address === undefined || stated === "stdio") return { skipped: "it has neither a command nor a URL" };
    const [field, type] = address;
    return entryOf({
      type: stated ?? type,
      url: reader.text(field),
      headers: reader.map("headers"),
      disabled: reader.flag("disabled"),
      ...rest(reader),
    });
  };
}

const vscode: ProgramReader = {
  userFiles: (place) =>
    ["Code", "Code - Insiders", "VSCodium"].map((product) =>
      joinOn(place.platform, applicationFolder(place), product, "User", "mcp.json"),
    ),
  projectFiles: [".vscode/mcp.json"],
  parse: (text, context) => {
    const root = parseJsonFile(text, context.path);
    // Before VS Code had a separate file, the table was under "mcp" in settings.json.
    const isOld = isRecord(root.mcp) && root.servers === undefined;
    const holder = isOld && isRecord(root.mcp) ? root.mcp : root;
    const inputs = Array.isArray(holder.inputs) ? holder.inputs.filter(isInput) : [];
    return readServers(holder.servers, {
      at: isOld ? ["mcp", "servers"] : ["servers"],
      translate: vsCode,
      read: usual(),
      inputs,
    });
  },
};

const cursorReader: ProgramReader = {
  userFiles: ({ platform, userHome }) => [joinOn(platform, userHome, ".cursor", "mcp.json")],
  projectFiles: [".cursor/mcp.json"],
  parse: (text, context) =>
    readServers(parseJsonFile(text, context.path).mcpServers, {
      at: ["mcpServers"],
      translate: cursor,
      read: usual({ rest: withoutSignIn("auth") }),
    }),
};

const claudeCode: ProgramReader = {
  userFiles: ({ platform, userHome, env }) => [joinOn(platform, env.CLAUDE_CONFIG_DIR || userHome, ".claude.json")],
  projectFiles: [".mcp.json"],
  parse: (text, context) => {
    const root = parseJsonFile(text, context.path);
    const options = { translate: likeOurs, read: usual({ rest: withoutSignIn("oauth", "headersHelper") }) };
    const here = projectTables(root.projects, context);
    const tables = [...here, { table: root.mcpServers, at: ["mcpServers"], note: undefined }];
    const servers = new Map<string, ImportedServer>();
    const skipped = [];
    for (const { table, at, note } of tables) {
      const parsed = readServers(table, { at, ...options });
      skipped.push(...parsed.skipped);
      for (const server of parsed.servers) {
        if (servers.has(server.name)) {
          skipped.push({ name: server.name, reason: "in this folder, Claude Code uses the project's entry instead" });
          continue;
        }
        servers.set(server.name, note === undefined ? server : { ...server, notes: [...server.notes, note] });
      }
    }
    const elsewhere = otherProjects(
      root.projects,
      here.map(({ table }) => table),
    );
    return { servers: [...servers.values()], skipped, ...(elsewhere.length === 0 ? {} : { elsewhere }) };
  },
};

const claudeDesktop: ProgramReader = {
  userFiles: (place) => [joinOn(place.platform, applicationFolder(place), "Claude", "claude_desktop_config.json")],
  projectFiles: [],
  parse: (text, context) =>
    readServers(parseJsonFile(text, context.path).mcpServers, {
      at: ["mcpServers"],
      translate: likeOurs,
      read: usual(),
    }),
};

const windsurfReader: ProgramReader = {
  userFiles: ({ platform, userHome }) => [joinOn(platform, userHome, ".codeium", "windsurf", "mcp_config.json")],
  projectFiles: [],
  parse: (text, context) =>
    readServers(parseJsonFile(text, context.path).mcpServers, {
      at: ["mcpServers"],
      translate: windsurf,
      read: usual({
        urlFields: [
          ["serverUrl", "http"],
          ["url", "http"],
        ],
        rest: (reader) => ({ tools: toolFilter(undefined, reader.names("disabledTools")) }),
      }),
    }),
};

const zed: ProgramReader = {
  userFiles: (place) => [
    place.platform === "win32"
      ? joinOn(place.platform, applicationFolder(place), "Zed", "settings.json")
      : joinOn(place.platform, configFolder(place), "zed", "settings.json"),
  ],
  projectFiles: [".zed/settings.json"],
  parse: (text, context) => {
    const root = parseJsonFile(text, context.path);
    const flat: Record<string, unknown> = {};
    for (const [name, fields] of Object.entries(isRecord(root.context_servers) ? root.context_servers : {}))
      flat[name] = isRecord(fields) ? flattenZed(fields) : fields;
    const read = usual({ rest: (reader) => ({ disabled: reader.flag("enabled") === false }) });
    return readServers(flat, {
      at: ["context_servers"],
      translate: asItIs,
      read: (reader, name) =>
        reader.raw("command") === undefined && reader.raw("url") === undefined
          ? { skipped: "it comes from a Zed extension, and only Zed knows how to start it" }
          : read(reader, name),
    });
  },
};

const geminiCli: ProgramReader = {
  userFiles: ({ platform, userHome }) => [joinOn(platform, userHome, ".gemini", "settings.json")],
  projectFiles: [".gemini/settings.json"],
  parse: (text, context) => {
    const root = parseJsonFile(text, context.path);
    const rules = isRecord(root.mcp) ? root.mcp : {};
    const isOff = (name: string) =>
      listed(rules.excluded, name) || (Array.isArray(rules.allowed) && !listed(rules.allowed, name));
    return readServers(root.mcpServers, {
      at: ["mcpServers"],
      translate: gemini,
      read: (reader, name) =>
        usual({
          urlFields: [
            ["httpUrl", "http"],
            ["url", "sse"],
          ],
          rest: () => {
            if (reader.flag("trust")) reader.note('"trust" was not imported: Trunkline has its own approval');
            return {
              disabled: isOff(name),
              callTimeout: reader.seconds("timeout", "ms", CALL_SECONDS),
              tools: toolFilter(reader.names("includeTools"), reader.names("excludeTools")),
            };
          },
        })(reader, name),
    });
  },
};

const opencodeReader: ProgramReader = {
  userFiles: (place) =>
    ["opencode.json", "opencode.jsonc", "config.json"].map((file) =>
      joinOn(place.platform, configFolder(place), "opencode", file),
    ),
  projectFiles: ["opencode.json", "opencode.jsonc", ".opencode/opencode.json"],
  parse: (text, context) =>
    readServers(parseJsonFile(text, context.path).mcp, { at: ["mcp"], translate: opencode, read: readOpencode }),
};

const readOpencode: ReadEntry = (reader) => {
  const common = {
    disabled: reader.flag("enabled") === false,
    timeout: reader.seconds("timeout", "ms", CONNECT_SECONDS),
  };
  // The program is the first word of the command.
  const [command, ...args] = [reader.raw("command")].flat().filter((word) => typeof word === "string");
  if (command !== undefined) {
    return entryOf({
      ...common,
      command: reader.translate(command),
      args: args.map((word) => reader.translate(word)),
      env: reader.map("environment"),
      cwd: reader.text("cwd"),
    });
  }
  if (typeof reader.raw("url") === "string") {
    withoutSignIn("oauth")(reader);
    return entryOf({ ...common, type: "http", url: reader.text("url"), headers: reader.map("headers") });
  }
  return { skipped: "it has neither a command nor a URL" };
};

const clineReader: ProgramReader = {
  userFiles: (place) => {
    const { platform, userHome, env } = place;
    const own = joinOn(platform, env.CLINE_DIR || joinOn(platform, userHome, ".cline"), "data", "settings");
    const extension = ["User", "globalStorage", "saoudrizwan.claude-dev", "settings"];
    return [
      ...(env.CLINE_MCP_SETTINGS_PATH ? [env.CLINE_MCP_SETTINGS_PATH] : []),
      ...["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"].map((editor) =>
        joinOn(platform, applicationFolder(place), editor, ...extension, "cline_mcp_settings.json"),
      ),
      joinOn(platform, own, "cline_mcp_settings.json"),
    ];
  },
  projectFiles: [],
  parse: (text, context) =>
    readServers(parseJsonFile(text, context.path).mcpServers, {
      at: ["mcpServers"],
      translate: cline,
      read: (reader, name) =>
        usual({
          // A URL without a type is an old entry, and Cline treats it as HTTP+SSE.
          typeField: reader.raw("type") === undefined ? "transportType" : "type",
          urlFields: [["url", "sse"]],
          rest: () => {
            if (reader.names("autoApprove") !== undefined) reader.note('"autoApprove" was not imported');
            return { callTimeout: reader.seconds("timeout", "s", CALL_SECONDS) };
          },
        })(reader, name),
    }),
};

const kiroReader: ProgramReader = {
  userFiles: ({ platform, userHome }) => [joinOn(platform, userHome, ".kiro", "settings", "mcp.json")],
  projectFiles: [".kiro/settings/mcp.json"],
  parse: (text, context) =>
    readServers(parseJsonFile(text, context.path).mcpServers, {
      at: ["mcpServers"],
      translate: kiro,
      read: usual({
        rest: (reader) => {
          if (reader.raw("autoApprove") !== undefined) reader.note('"autoApprove" was not imported');
          return {
            ...withoutSignIn("oauth", "oauthScopes")(reader),
            tools: toolFilter(undefined, reader.names("disabledTools")),
          };
        },
      }),
    }),
};

/** All programs except Codex. */
export const JSON_READERS: Readonly<Record<Exclude<ProgramId, "codex">, ProgramReader>> = {
  vscode,
  cursor: cursorReader,
  "claude-code": claudeCode,
  "claude-desktop": claudeDesktop,
  windsurf: windsurfReader,
  zed,
  gemini: geminiCli,
  opencode: opencodeReader,
  cline: clineReader,
  kiro: kiroReader,
};

/** Skips sign-in fields and tells the user to sign in again. */
function withoutSignIn(...fields: string[]): (reader: EntryReader) => EntryFields {
  return (reader) => {
    for (const field of fields) {
      if (reader.raw(field) !== undefined) reader.note(`"${field}" was not imported: sign in again here`);
    }
    return {};
  };
}

/** Returns Claude Code's tables for the current project, nearest folder first. */
function projectTables(projects: unknown, context: ImportContext): { table: unknown; at: string[]; note: string }[] {
  if (!isRecord(projects)) return [];
  const normalized = (path: string) => {
    const slashed = path.replaceAll("\\", "/").replace(/(.)\/$/, "$1");
    return context.platform === "win32" ? slashed.toLowerCase() : slashed;
  };
  const byPath = new Map(Object.entries(projects).map(([path, project]) => [normalized(path), { path, project }]));
  return context.folders.flatMap((folder) => {
    const { path = "", project } = byPath.get(normalized(folder)) ?? {};
    if (!isRecord(project)) return [];
    const at = ["projects", path, "mcpServers"];
    return [{ table: project.mcpServers, at, note: `Claude Code uses it only in ${folder}` }];
  });
}

/** Returns the servers of Claude Code's projects in other folders. */
function otherProjects(projects: unknown, here: readonly unknown[]): { name: string; folder: string }[] {
  if (!isRecord(projects)) return [];
  return Object.entries(projects).flatMap(([folder, project]) => {
    const table = isRecord(project) ? project.mcpServers : undefined;
    if (!isRecord(table) || here.includes(table)) return [];
    return Object.keys(table).map((name) => ({ name, folder }));
  });
}

/** Flattens Zed's older entries, which keep the program, its arguments and its environment together under "command". */
function flattenZed(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { command, ...rest } = fields;
  if (!isRecord(command)) return fields;
  return { ...rest, command: command.path, args: command.args, env: command.env };
}

function listed(list: unknown, name: string): boolean {
  return Array.isArray(list) && list.includes(name);
}

function isInput(value: unknown): value is InputDefinition {
  return isRecord(value) && typeof value.id === "string";
}
