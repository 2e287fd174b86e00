// Files of other programs with servers, for tests of `import --move`, `setup` and `uninstall --restore`.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ProgramId } from "@trunkline/core";
import type { Place } from "./command.js";

/** Where each program keeps its servers on Linux, and a file with odd formatting that has to survive. */
const FILES: Readonly<Record<ProgramId, readonly [file: string, text: string]>> = {
  "claude-code": [
    ".claude.json",
    '{\n\t"numStartups": 3,\n\t"mcpServers": {\n\t\t"docs": { "type": "stdio", "command": "docs-mcp" }\n\t},\n\t"oauth": { "x": "keep-me" }\n}',
  ],
  "claude-desktop": [".config/Claude/claude_desktop_config.json", '{"mcpServers":{"docs":{"command":"docs-mcp"}}}'],
  cursor: [
    ".cursor/mcp.json",
    '\uFEFF// mine\r\n{\r\n  "mcpServers": {\r\n    /* the docs */\r\n    "docs": { "command": "docs-mcp" }, // last\r\n  },\r\n}\r\n',
  ],
  vscode: [
    ".config/Code/User/mcp.json",
    '{\n    "servers": {\n        "docs": {\n            "command": "docs-mcp"\n        }\n    },\n    "inputs": []\n}\n',
  ],
  codex: [
    ".codex/config.toml",
    '# mine\nmodel = "x"   # fast\n\n[mcp_servers.docs]\ncommand = "docs-mcp" # docs\n\n# a profile\n[profiles.a]\nn = 1',
  ],
  windsurf: [".codeium/windsurf/mcp_config.json", '{ "mcpServers": { "docs": { "command": "docs-mcp" } } }\n\n'],
  zed: [
    ".config/zed/settings.json",
    '// Zed\n{\n  "theme": "One Dark",\n  "context_servers": {\n    "docs": { "source": "custom", "command": "docs-mcp", },\n  },\n}\n',
  ],
  gemini: [".gemini/settings.json", '{\n  "theme": "x",\n  "mcpServers": { "docs": { "command": "docs-mcp" } }\n}\n'],
  opencode: [
    ".config/opencode/opencode.jsonc",
    '{\n  // opencode\n  "mcp": { "docs": { "type": "local", "command": ["docs-mcp"] } }\n}\n',
  ],
  cline: [
    ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
    '{\n  "mcpServers": {\n    "docs": { "type": "stdio", "command": "docs-mcp" }\n  }\n}\n',
  ],
  kiro: [
    ".kiro/settings/mcp.json",
    '{\n  "powers": {},\n  "mcpServers": { "docs": { "command": "docs-mcp", "args": [], "disabled": false } }\n}\n',
  ],
};

export const MOVABLE: readonly (readonly [program: string, file: string, text: string])[] = Object.entries(FILES).map(
  ([program, [file, text]]) => [program, file, text],
);

/** Writes a file below the home folder. */
export function writeHome(place: Place, file: string, text: string, mode = 0o644): string {
  const path = join(place.home, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

/** The content and mode of every file below the home folder, except Trunkline's own folder. */
export function homeFiles(place: Place): Record<string, string> {
  const files: Record<string, string> = {};
  const visit = (folder: string) => {
    for (const entry of readdirSync(join(place.home, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (path === ".trunkline") continue;
      if (entry.isDirectory()) visit(path);
      else {
        const { mode } = statSync(join(place.home, path));
        files[path] = `${(mode & 0o777).toString(8)} ${readFileSync(join(place.home, path)).toString("base64")}`;
      }
    }
  };
  visit("");
  return files;
}

export function settingsOf(place: Place): { mcpServers?: Record<string, unknown> } | undefined {
  const path = join(place.home, ".trunkline", "settings.json");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}

/** The folders of the backups. */
export function backupsOf(place: Place): string[] {
  const folder = join(place.home, ".trunkline", "backups");
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}
