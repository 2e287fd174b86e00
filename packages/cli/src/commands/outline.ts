// One line per command: its usage and description. `trunkline --help` is built from this alone, so it does not have to
// load the commands.

/** By name, in help order: the usage and the description. */
export const OUTLINE: Readonly<Record<string, { readonly usage: string; readonly about: string }>> = {
  serve: {
    usage: "[options]",
    about: "serve MCP to an agent, over stdio or HTTP",
  },
  doctor: {
    usage: "[options]",
    about: "check the configuration and every server, and say what to do next",
  },
  tools: {
    usage: "[options] [tool]",
    about: "list the tools of all servers, or those that match",
  },
  call: {
    usage: "[options] <tool> [arguments...]",
    about: "call one tool: key=value for text, key:=value for JSON",
  },
  resources: {
    usage: "[options]",
    about: "list the resources of all servers, or read one",
  },
  prompts: {
    usage: "[options]",
    about: "list the prompts of all servers, or render one",
  },
  servers: {
    usage: "[options]",
    about: "list, add, remove, enable or disable servers",
  },
  auth: {
    usage: "[options]",
    about: "sign in to servers, sign out, and show the state",
  },
  import: {
    usage: "[options] [source...]",
    about: "import servers from other programs; without arguments, list them",
  },
  trust: {
    usage: "[options]",
    about: "show what the project's files would run, and approve it",
  },
  tokens: {
    usage: "[options]",
    about: "create, list and revoke the tokens of `serve --http`",
  },
  ask: {
    usage: "[options] [prompt...]",
    about: "ask a model one question, optionally with tools",
  },
  chat: {
    usage: "[options] [prompt...]",
    about: "chat with a model, optionally with tools",
  },
  agent: {
    usage: "[options] [prompt...]",
    about: "have an agent work on a task in turns",
  },
  query: {
    usage: "[options] [words...]",
    about: "read from the store and the servers: one operation or a pipeline",
  },
  execute: {
    usage: "[options] [words...]",
    about: "run operations that change the store, and any tool",
  },
  run: {
    usage: "[options] <script> [args...]",
    about: "run a script with access to the hub, the store, models and agents",
  },
  init: {
    usage: "[options] [folder]",
    about: "create a store for this project and index the project",
  },
  install: {
    usage: "[options] [program] [options...]",
    about: "add Trunkline to another program's configuration; without arguments, list the programs",
  },
  uninstall: {
    usage: "[options] <program>",
    about: "remove Trunkline from another program's configuration",
  },
  log: {
    usage: "[options]",
    about: "show what the gateway was asked: time, client, operation, duration, size, outcome",
  },
  stats: {
    usage: "[options]",
    about: "show what the gateway cost in tokens, compared with the upstream tools",
  },
  store: {
    usage: "[options]",
    about: "store documents with their history, and search them",
  },
  embed: {
    usage: "[options] <text...>",
    about: "turn texts into vectors, with the embedded model or an endpoint",
  },
  models: {
    usage: "[options]",
    about: "list or download local models",
  },
  completion: {
    usage: "[options] [shell]",
    about: "print a shell completion script, or how to install it",
  },
};
