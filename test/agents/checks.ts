// What must hold for every agent. A check returns what is wrong, or nothing.
import { isDeepStrictEqual } from "node:util";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { Agent } from "./agents.js";
import type { AgentFile, Observed } from "./observe.js";
import type { ModelRequest } from "./scripted-model.js";
import type { Session } from "./session.js";

export interface Check {
  readonly title: string;
  problem(observed: Observed, agent: Agent): string | undefined;
}

/** The first request through Trunkline may be larger than without it by this factor. */
const MOST = 1.01;
/** More characters of a result than this are too many for a model. */
const LARGE = 60_000;

/** Tools by which a server is recognized, as any agent spells them. */
const TOOLS_OF = [/get_sum/, /read_text_file/, /open_nodes|read_graph|create_entities/];

function mentionsTools(text: string): boolean {
  const plain = text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_");
  return TOOLS_OF.every((pattern) => pattern.test(plain));
}

/** The tools at the start of a session: in the first request, or in the answer to the model's first search. */
function atStart({ requests, results }: Session, { asksForTools = false }: Agent): string {
  const [first] = results.values();
  return asksForTools ? (first?.text ?? "") : JSON.stringify(requests[0]?.body ?? {});
}

/** Tokens of the first request that has the tools, without what was said until then. */
export function tokensAtStart({ requests }: Session, { asksForTools = false }: Agent): number | undefined {
  const [first] = requests;
  const asked = ({ body }: ModelRequest) => {
    const { messages, input, contents } = first?.body ?? {};
    const alone = JSON.stringify({ ...body, messages, input, contents });
    return asksForTools || mentionsTools(alone) ? alone : JSON.stringify(body);
  };
  const complete = requests.map(asked).find((text) => asksForTools || mentionsTools(text));
  return complete === undefined ? undefined : countTokens(withoutChance(complete));
}

/** Ids and folders that are different in every session, and so are their tokens. */
function withoutChance(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi, "00000000-0000-0000-0000-000000000000")
    .replaceAll(/\bagent-[A-Za-z0-9]{6}\b/g, "agent-000000");
}

function textOf({ results }: Session, name: string): string {
  return results.get(name)?.text ?? "";
}

/** Fails with what the model saw instead. */
function shows(session: Session, name: string, pattern: RegExp): string | undefined {
  const text = textOf(session, name);
  return pattern.test(text) ? undefined : `the model saw: ${text.slice(0, 300) || "nothing"}`;
}

/** What became of a question to the user, in the words of the server that asked. */
function outcome(session: Session): string {
  const text = textOf(session, "question");
  return /User (declined|cancelled)|User provided/.exec(text)?.[0] ?? "not asked";
}

function seesImage(session: Session): boolean {
  const { images, text } = session.results.get("image") ?? { images: 0, text: "" };
  return images > 0 || text.includes('"type":"image"');
}

export const CHECKS = {
  "tools-cold": {
    title: "has the tools of all servers at the start, cold",
    problem: ({ cold }, agent) => (mentionsTools(atStart(cold, agent)) ? undefined : "the tools are missing"),
  },
  "tools-warm": {
    title: "has the tools of all servers at the start, warm",
    problem: ({ warm }, agent) => (mentionsTools(atStart(warm, agent)) ? undefined : "the tools are missing"),
  },
  tokens: {
    title: `spends at most ${MOST} times the tokens at the start`,
    problem: ({ direct, warm }, agent) => {
      const [before, after] = [tokensAtStart(direct, agent), tokensAtStart(warm, agent)];
      if (before === undefined || after === undefined) return "no request has the tools";
      return after <= before * MOST ? undefined : `${after} tokens, ${before} without Trunkline`;
    },
  },
  listed: {
    title: "calls a tool",
    problem: ({ cold }) => shows(cold, "listed", /The sum of 2 and 3 is 5\./),
  },
  pipeline: {
    title: "runs a pipeline with `query`",
    problem: ({ cold }) => shows(cold, "pipeline", /Echo: hello from a file/),
  },
  execute: {
    title: "changes something with `execute`",
    problem: ({ cold }) => shows(cold, "executed", /wrote a program/),
  },
  image: {
    title: "shows an image to the model",
    problem: ({ direct, cold }) => (seesImage(cold) || !seesImage(direct) ? undefined : "the model saw no image"),
  },
  large: {
    title: "cuts 2 MB of text, and says where the rest is; a program gets all of it",
    problem: ({ cold }, agent) => {
      const text = textOf(cold, "large");
      if (agent.call !== undefined) return shows(cold, "large", /[2-9]\d{6} characters/);
      return text.length < LARGE ? shows(cold, "large", /line 0 of[\s\S]*full result is stored/) : "it was not cut";
    },
  },
  failing: {
    title: "shows why a tool failed",
    problem: ({ cold }) => shows(cold, "failing", /ENOENT: no such file/),
  },
  unknown: {
    title: "survives a tool that does not exist",
    problem: ({ cold }) =>
      shows(cold, "unknown", /no such tool|not found|unavailable|unsupported|not a function/i) ??
      shows(cold, "structured", /./),
  },
  misspelt: {
    title: "names the right tool when one is misspelt",
    problem: ({ cold }) => shows(cold, "misspelt", /Did you mean everything\.get-sum/),
  },
  "as-shown": {
    title: "finds a tool in `query` by the name the agent shows",
    problem: ({ cold }) => shows(cold, "as shown", /The sum of 2 and 3 is 5\./),
  },
  structured: {
    title: "shows structured content",
    problem: ({ cold }) => shows(cold, "structured", /temperature[\s\S]*Light rain/),
  },
  question: {
    title: "answers a server's question as it does without Trunkline",
    problem: ({ direct, cold }) => {
      const [before, after] = [outcome(direct), outcome(cold)];
      return after === before ? undefined : `${after}; without Trunkline: ${before}`;
    },
  },
  crash: {
    title: "goes on after `kill -9` of the daemon",
    problem: ({ crashes }) => shows(crashes.session, "after a crash", /after a crash \d+/),
  },
  "crash-in-call": {
    title: "goes on after `kill -9` of the daemon in mid-call, without repeating the call",
    problem: ({ crashes: { session, calls } }) => {
      if (calls !== 1) return `the server was called ${calls} times`;
      return shows(session, "in mid-call", /./) ?? shows(session, "after a crash in mid-call", /mid-call \d+/);
    },
  },
  rule: {
    title: "keeps to a rule that denies a tool",
    problem: ({ rule }) =>
      rule.wasWritten ? "the denied tool was called" : shows(rule.session, "execute", /succeeded\W+1/),
  },
  restore: {
    title: "has its files back after `uninstall --restore`",
    problem: ({ rule }) => {
      const changed = rule.files.filter((file) => !isRestored(file));
      return changed.length === 0 ? undefined : `changed: ${changed.map(({ path }) => path).join(", ")}`;
    },
  },
} satisfies Record<string, Check>;

export type CheckId = keyof typeof CHECKS;

/** Whether a file is as it was, byte for byte; if the agent has written to it meanwhile, whether its servers are. */
function isRestored({ before, moved, used, after }: AgentFile): boolean {
  if (after === before || used === moved) return after === before;
  const partsOf = (text: string) => JSON.parse(text.replaceAll(/^\s*\/\/.*$/gm, ""));
  const { mcpServers: serversBefore } = partsOf(before);
  const { mcpServers: _, ...restUsed } = partsOf(used);
  const { mcpServers: serversAfter, ...restAfter } = partsOf(after);
  return isDeepStrictEqual(serversAfter, serversBefore) && isDeepStrictEqual(restAfter, restUsed);
}
