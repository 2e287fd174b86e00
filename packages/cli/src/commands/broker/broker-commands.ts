// Which command lines the broker can run. bin/trunkline reads this before anything else is loaded.

/** The commands that need servers or the store; of `store`, only those that read. */
const COMMANDS: ReadonlySet<string> = new Set([
  "call",
  "tools",
  "resources",
  "prompts",
  "query",
  "execute",
  "ask",
  "chat",
  "agent",
  "console",
]);
const STORE_COMMANDS: ReadonlySet<string> = new Set(["search", "grep", "list", "get", "graph", "status"]);

/** The command that starts a broker if there is none. Others then work in their own process. */
const STARTING = "console";

/** Options of the program and of `store` that take a value. */
const VALUED = new Set(["--color", "--store"]);

/** Options with which a command works in its own process: they name its configuration, or ask for it. */
const OWN_PROCESS = new Set(["--no-broker", "--mcp", "--url", "--help", "-h", "--http"]);

/** Commands that start the server after `--` themselves. */
const TAKES_SERVER = new Set(["call", "tools"]);

/** Variables that name a configuration or trust of their own. */
const OWN_VARIABLES = ["TRUNKLINE_MCP_FILE", "TRUNKLINE_TRUST"];

/**
 * Decides what the broker would do for a command line: serve an MCP client, run a command for a person, or nothing. On
 * Windows an editor may end the broker that it started, so it is off there unless TRUNKLINE_BROKER is `on`.
 */
export function brokerUseOf(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  platform: string,
): "client" | "person" | undefined {
  const wish = env.TRUNKLINE_BROKER;
  if (wish === "off" || (platform === "win32" && wish !== "on")) return undefined;
  if (OWN_VARIABLES.some((name) => env[name])) return undefined;
  const end = args.indexOf("--");
  const options = end === -1 ? args : args.slice(0, end);
  if (options.some((word) => OWN_PROCESS.has(word.replace(/=.*/s, "")))) return undefined;
  const words = wordsOf(options);
  const [command = "", second = ""] = words;
  if (end !== -1 && TAKES_SERVER.has(command)) return undefined;
  if (command === "serve") return "client";
  if (command === "store") return STORE_COMMANDS.has(second) ? "person" : undefined;
  return COMMANDS.has(command) ? "person" : undefined;
}

/** Whether a command that the broker can run starts one if there is none. */
export function startsBroker(args: readonly string[], env: Readonly<Record<string, string | undefined>>): boolean {
  return env.TRUNKLINE_BROKER === "on" || wordsOf(args)[0] === STARTING;
}

/** Returns the words that are neither options nor the value of one that may come before a command. */
function wordsOf(options: readonly string[]): string[] {
  return options.filter((word, at) => !word.startsWith("-") && !VALUED.has(options[at - 1] ?? ""));
}
