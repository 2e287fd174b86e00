// Who may share one connection to a server. Most servers do not notice how many programs use them. Some keep state
// for each client: an open page, a working directory, a breakpoint. Those get a connection per client.
import type { ServerDefinition } from "./loaded-config.js";

/**
 * `workspace`: everyone in one workspace shares the connection. `user`: everyone whose server is configured in exactly
 * the same way. `client`: each client has its own.
 */
export type Share = "workspace" | "user" | "client";

export function isShare(text: string): text is Share {
  return text === "workspace" || text === "user" || text === "client";
}

/**
 * Programs, packages and images that keep a state per client, by the words in their name: `@playwright/mcp`,
 * `chrome-devtools-mcp`, `mcp_shell_server`. A name that should not match only costs memory; one that is missing lets two
 * clients disturb each other. The entry's `share` overrides it.
 */
const STATEFUL_NAMES: readonly RegExp[] = [
  // Browsers, and other screens.
  ...[/browser(?!slist|stack)/, /playwright/, /patchright/, /puppeteer/, /chrome-?devtools/, /\bmcp-chrome\b/],
  ...[/\bchrome-mcp\b/, /selenium/, /web-?driver/, /stagehand/, /camoufox/, /\bno-?driver/, /\bzendriver/, /\bappium/],
  ...[/\bcomputer-(?:use|control)\b/, /\bdesktop-(?:automation|control)\b/, /\bvnc\b/],
  // Shells and terminals.
  ...[/desktop-?commander/, /\biterm/, /\btmux\b/, /\b(?:shell|bash|zsh|powershell|pwsh|terminal|pty|ssh)\b/],
  ...[/\bserver-commands\b/, /\bwin(?:dows)?-cli\b/, /\bcli-mcp-server\b/, /\bwcgw\b/],
  // Debuggers.
  ...[/\b(?:gdb|lldb|dap|delve|dlv|pdb)\b/, /dbg\b/, /\bdebug/],
  // Interpreters and sandboxes that keep variables and files.
  ...[/\bn?repl\b/, /interpreter/, /jupyter/, /\bipython\b/, /\bmatlab\b/, /\boctave\b/, /\be2b\b/, /\bmicrosandbox\b/],
  ...[/\b(?:code|python|node|js)-(?:code-)?(?:sandbox|executor|runner)\b/],
  // Numbers the thoughts of one conversation.
  /\bsequential-?thinking\b/,
];

/**
 * Returns how an entry's connection is shared: as it says, or as its program and transport suggest. A project's entry, or
 * one with secrets, is never shared with other workspaces.
 */
export function shareOf(definition: ServerDefinition): Share {
  const { share = usualShare(definition), scope, secretReferences } = definition;
  // A trusted project must not reach a server process that works for another project, or for the user. A server with
  // secrets works for the workspace that was given them.
  const isConfined = scope === "project" || secretReferences !== undefined;
  return share === "user" && isConfined ? "workspace" : share;
}

function usualShare(definition: ServerDefinition): Share {
  if (definition.type !== "stdio") return "user";
  return keepsState(definition.command, definition.args) ? "client" : "workspace";
}

/**
 * Whether a command line starts a server that keeps a state per client. Only the program that is started counts, behind
 * any launchers: `npx -y @playwright/mcp@latest` does, a folder called playwright that is passed as an argument does not.
 */
export function keepsState(command: string, args: readonly string[]): boolean {
  return programsIn([command, ...args]).some((name) => STATEFUL_NAMES.some((pattern) => pattern.test(name)));
}

/** Returns the name of the program that a command line starts, without its folder, scope and extension; "" if unclear. */
export function programName(command: string, args: readonly string[]): string {
  const name = programsIn([command, ...args]).at(-1) ?? wordName(command, false);
  return (name.split("/").at(-1) ?? "").replace(/\.[cm]?[jt]s$|\.py$/, "");
}

/** Programs that start another one, and the words with which they do: `uv run x`, `cmd /c npx x`, `op run -- npx x`. */
const LAUNCHERS: ReadonlySet<string> = new Set([
  ...[
    "npx",
    "pnpx",
    "bunx",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "node",
    "deno",
    "tsx",
    "uv",
    "uvx",
    "pipx",
    "python",
    "python3",
  ],
  ...[
    "py",
    "docker",
    "podman",
    "nerdctl",
    "wsl",
    "env",
    "sudo",
    "nice",
    "cmd",
    "sh",
    "bash",
    "zsh",
    "fish",
    "powershell",
  ],
  ...["pwsh", "mise", "nix", "op", "doppler", "infisical", "dotenv", "dotenvx", "smithery/cli"],
  ...["run", "exec", "dlx", "x", "tool", "--", "/c", "/d", "/s"],
]);

/** Options whose next word is a value. Those of `docker run` and `uv` are the ones that come before the program. */
const VALUE_OPTIONS: ReadonlySet<string> = new Set([
  ...["-e", "--env", "--env-file", "-v", "--volume", "--mount", "--name", "--network", "--net", "-u", "--user", "-w"],
  ...["--workdir", "--publish", "--entrypoint", "--add-host", "--shm-size", "--memory", "--cpus", "--gpus", "--device"],
  ...["--label", "--platform", "--pull", "--cap-add", "--cap-drop", "--security-opt", "--ipc", "--tmpfs", "--hostname"],
  ...[
    "--restart",
    "--ulimit",
    "--directory",
    "--project",
    "--python",
    "--with",
    "--index",
    "--index-url",
    "--registry",
  ],
  ...["--import", "--require", "-r"],
]);

/** Options whose next word names the program. */
const PROGRAM_OPTIONS: ReadonlySet<string> = new Set(["-p", "--package", "--from", "-m"]);

/** Options of shells whose next word is a command line. */
const COMMAND_OPTIONS: ReadonlySet<string> = new Set(["-c", "-lc", "-ic", "-Command", "-command"]);

/** Returns the names of what a command line starts: the first word that is no launcher, and packages in options. */
function programsIn(words: readonly string[]): readonly string[] {
  const names: string[] = [];
  let launcher = "";
  for (const [at, word] of words.entries()) {
    const before = words[at - 1] ?? "";
    const name = wordName(word, IMAGE_LAUNCHERS.has(launcher));
    if (COMMAND_OPTIONS.has(before) && /\s/.test(word)) return [...names, ...programsIn(word.trim().split(/\s+/))];
    if (PROGRAM_OPTIONS.has(before)) names.push(name);
    else if (/^--(?:package|from)=/.test(word)) names.push(wordName(word.replace(/^[^=]*=/, ""), false));
    else if (VALUE_OPTIONS.has(before) || (word.startsWith("-") && word !== "--") || /^\w+=/.test(word)) continue;
    else if (LAUNCHERS.has(name)) launcher = LAUNCHER_WORDS.has(name) ? launcher : name;
    // `ssh host command`: the program is at the other end.
    else if (name === "ssh") return [...names, ...programsIn(words.slice(at + 2))];
    else return [...names, name];
  }
  return names;
}

/** Programs that start images. */
const IMAGE_LAUNCHERS: ReadonlySet<string> = new Set(["docker", "podman", "nerdctl"]);

/** Launchers that are only a part of a command. */
const LAUNCHER_WORDS: ReadonlySet<string> = new Set(["run", "exec", "dlx", "x", "tool", "--", "/c", "/d", "/s"]);

/**
 * The name of a program, package or image, without its folder and version: of `@playwright/mcp@1.2` all but the version.
 * The name of an image is its last two words: `mcr.microsoft.com/playwright/mcp`.
 */
function wordName(word: string, isImage: boolean): string {
  const path = word.replaceAll("\\", "/");
  const installed = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
  const isPackage = installed !== undefined || /^@[\w.-]+\/[\w.-]+(?:@.*)?$/.test(path);
  const name = isPackage
    ? (installed ?? path).replace(/^@/, "")
    : isImage
      ? path.split("/").slice(-2).join("/")
      : (path.split("/").at(-1) ?? "");
  if (LAUNCHER_WORDS.has(word)) return word;
  const plain = name.toLowerCase().replace(/(.)[@:=].*$/, "$1");
  return plain.replace(/\.(?:exe|cmd|bat|ps1)$/, "").replaceAll("_", "-");
}
