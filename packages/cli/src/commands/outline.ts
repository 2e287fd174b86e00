// The list of commands: a description of each, and the groups of `trunkline --help`. The help is built from this alone,
// so it does not have to load the commands.

/** By name: the description of a command. */
export const OUTLINE: Readonly<Record<string, string>> = {
  setup: "move the servers of your agents to Trunkline, and Trunkline into your agents",
  servers: "list, add, remove, enable or disable servers; search the registry",
  import: "import servers from other programs; without arguments, list them",
  trust: "show what the project's files would run, and approve it",
  auth: "sign in to servers, sign out, and show the state",
  secrets: "keep secrets in the system's keychain, for servers to refer to",
  serve: "serve MCP to an agent, over stdio or HTTP",
  tokens: "create, list and revoke the tokens of `serve --http`",
  install: "add Trunkline to another program's configuration; without arguments, list the programs",
  uninstall: "remove Trunkline from another program's configuration, or bring its servers back",
  tools: "list the tools of all servers, or those that match",
  call: "call one tool: key=value for text, key:=value for JSON",
  resources: "list the resources of all servers, or read one",
  prompts: "list the prompts of all servers, or render one",
  query: "read from the store and the servers: one operation or a pipeline",
  execute: "run operations that change the store, and any tool",
  ask: "ask a model one question, optionally with tools",
  chat: "chat with a model, optionally with tools",
  agent: "have an agent work on a task in turns",
  run: "run a script with access to the hub, the store, models and agents",
  generate: "write a typed TypeScript client for the tools",
  init: "create a store for this project and index the project",
  store: "store documents with their history, and search them",
  embed: "turn texts into vectors, with the embedded model or an endpoint",
  models: "list or download local models",
  console: "open a page in your browser: servers, traffic, tools, questions, store",
  doctor: "check the configuration and every server, and say what to do next",
  log: "show the calls of agents: time, client, operation, duration, size, outcome",
  stats: "show what the gateway cost in tokens, compared with the upstream tools",
  broker: "show the process that runs your servers for all windows; stop or restart it",
  completion: "print a shell completion script, or how to install it",
};

/** What to use for words that people try first. */
export const INSTEAD: Readonly<Record<string, string>> = {
  search: "trunkline store search",
  grep: "trunkline store grep",
  get: "trunkline store get",
  status: "trunkline` for an overview, or `trunkline doctor",
  login: "trunkline auth login",
  logout: "trunkline auth logout",
  add: "trunkline servers add` for a server, or `trunkline store add",
  remove: "trunkline servers remove",
  list: "trunkline servers` for the servers, or `trunkline tools",
  config: "trunkline servers` for the servers, or `trunkline doctor",
  version: "trunkline --version",
  start: "trunkline setup",
  stop: "trunkline broker stop",
  logs: "trunkline log",
};

interface HelpRow {
  readonly commands: readonly string[];
  readonly about: string;
}

/** What `trunkline --help` shows: one line for a few commands that belong together, so that it fits a screen. */
export const GROUPS: Readonly<Record<string, readonly HelpRow[]>> = {
  Connect: [
    { commands: ["setup", "servers", "import"], about: "set everything up; add servers; copy or move them" },
    { commands: ["trust", "auth", "secrets"], about: "approve projects; sign in to servers; keep secrets" },
    { commands: ["serve", "tokens"], about: "serve MCP to an agent; manage the tokens of clients" },
    { commands: ["install", "uninstall"], about: "add Trunkline to your agent's configuration" },
  ],
  Use: [
    { commands: ["tools", "call"], about: "list the tools of all servers; call one" },
    { commands: ["resources", "prompts"], about: "list them; read a resource, render a prompt" },
    { commands: ["query", "execute"], about: "read or change the store and the servers in one go" },
  ],
  Agent: [
    { commands: ["ask", "chat", "agent"], about: "give a model a question, a conversation or a task" },
    { commands: ["run", "generate"], about: "run a script; write a typed client for the tools" },
  ],
  Memory: [
    { commands: ["init", "store"], about: "index this project; store and search documents" },
    { commands: ["embed", "models"], about: "turn texts into vectors; download a local model" },
  ],
  Maintenance: [
    { commands: ["console", "doctor"], about: "see everything in your browser; check every server" },
    { commands: ["log", "stats"], about: "show what agents called, and what it cost in tokens" },
    { commands: ["broker", "completion"], about: "show what runs for all windows; set up Tab completion" },
  ],
};
