// One line for each command: what it takes and what it does. The list in `trunkline --help` is made from this alone, so that
// it does not wait for the commands themselves.

/** By name, in the order of the help: the usage and the description. */
export const OUTLINE: Readonly<Record<string, { readonly usage: string; readonly about: string }>> = {
  serve: {
    usage: "[options]",
    about: "serve MCP to an agent, over stdio or HTTP",
  },
  doctor: {
    usage: "[options]",
    about: "check the configuration and every server in it, and say what to do next",
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
    about: "list the prompts of all servers, or fill one in",
  },
  servers: {
    usage: "[options]",
    about: "list, add, remove, enable or disable servers",
  },
  auth: {
    usage: "[options]",
    about: "sign in to servers, sign out, and see where that stands",
  },
  import: {
    usage: "[options] [source...]",
    about: "copy servers from the files of other programs; alone, list what there is",
  },
  trust: {
    usage: "[options]",
    about: "show what the project's files would run, and confirm it",
  },
  ask: {
    usage: "[options] [prompt...]",
    about: "ask a model one question, with tools of the servers at hand",
  },
  chat: {
    usage: "[options] [prompt...]",
    about: "talk with a model, with tools of the servers at hand",
  },
  agent: {
    usage: "[options] [prompt...]",
    about: "let an agent work on a task in turns",
  },
  query: {
    usage: "[options] [words...]",
    about: "ask the store and the servers: operations that read, alone or in a pipeline",
  },
  execute: {
    usage: "[options] [words...]",
    about: "run operations: those that change the store, and any tool",
  },
  run: {
    usage: "[options] <script> [args...]",
    about: "run a script with the hub, the store, models and agents at hand",
  },
  init: {
    usage: "[options] [folder]",
    about: "give this project a store of its own, and take the project in",
  },
  install: {
    usage: "[options] [program] [options...]",
    about: "put Trunkline into the configuration of another program; alone, list the programs",
  },
  uninstall: {
    usage: "[options] <program>",
    about: "take Trunkline out of the configuration of another program",
  },
  log: {
    usage: "[options]",
    about: "show what the server was asked: time, client, operation, duration, size, outcome",
  },
  stats: {
    usage: "[options]",
    about: "show what the server cost in tokens, beside what the upstream tools would have cost",
  },
  store: {
    usage: "[options]",
    about: "keep documents with their history, and find them again",
  },
  embed: {
    usage: "[options] <text...>",
    about: "turn texts into vectors, with the embedded model or at an endpoint",
  },
  models: {
    usage: "",
    about: "list or pull the models that run here",
  },
  completion: {
    usage: "[shell]",
    about: "print a script that completes commands at Tab; alone, say how to install it",
  },
};
