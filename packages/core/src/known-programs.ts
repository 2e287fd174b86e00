/**
 * The agents and editors whose servers can be imported and into which Trunkline can be installed: their names on the
 * command line, and those of the products. To add one, add it here: the compiler then asks for what else it needs.
 */
export const KNOWN_PROGRAMS = {
  vscode: "VS Code",
  cursor: "Cursor",
  "claude-code": "Claude Code",
  "claude-desktop": "Claude Desktop",
  codex: "Codex",
  windsurf: "Windsurf",
  zed: "Zed",
  gemini: "Gemini CLI",
  opencode: "opencode",
  cline: "Cline",
  kiro: "Kiro",
} as const;

export type ProgramId = keyof typeof KNOWN_PROGRAMS;

/** Their names on the command line, in the order in which their files are read. */
export const PROGRAM_IDS: readonly ProgramId[] = Object.keys(KNOWN_PROGRAMS).filter(isProgramId);

export function isProgramId(id: string): id is ProgramId {
  return Object.hasOwn(KNOWN_PROGRAMS, id);
}
