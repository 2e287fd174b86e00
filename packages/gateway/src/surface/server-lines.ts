// Names the servers and what they are about, for a model that does not see their tools: one line for each server, or one
// line for all of them if there are many.
import type { KnownServer } from "@trunkline/client";
import { replaceControls } from "@trunkline/core";
import { estimateTokens } from "../journal/token-counter.js";
import { isTopic, topicsOf } from "./server-topics.js";

/** What the lines may cost together, in tokens. */
const MAX_TOKENS = 150;
/** More servers are summed up. */
const MOST_LINES = 20;
const MOST_TOPICS = 4;
/** The cost of everything but names and topics. */
const HEADING_TOKENS = 3;
const SENTENCE_TOKENS = 16;
const LONGEST_NAME = 40;

type Topic = readonly [topic: string, tokens: number];

interface About {
  readonly name: string;
  readonly tokens: number;
  readonly tools: number;
  readonly topics: readonly Topic[];
}

/** Returns the lines about these servers; empty if there is none. */
export function serverLines(servers: readonly KnownServer[]): string {
  const usable = servers
    .filter(({ status, tools }) => status.state !== "disabled" && status.state !== "untrusted" && tools?.length !== 0)
    .map(aboutOf);
  if (usable.length === 0) return "";
  return usable.length <= MOST_LINES ? lineEach(usable) : lineForAll(usable);
}

/** Every server gets its name; then, as long as there is room, every server its first topic, its second, and so on. */
function lineEach(servers: readonly About[]): string {
  let left = MAX_TOKENS - HEADING_TOKENS - servers.reduce((sum, { tokens }) => sum + tokens, 0);
  const shown = servers.map(() => [] as string[]);
  for (let rank = 0; rank < MOST_TOPICS; rank++) {
    for (const [index, { topics }] of servers.entries()) {
      const [topic, tokens = 0] = topics[rank] ?? [];
      // The last topic of a line has no comma.
      const cost = rank === 0 ? tokens - 1 : tokens;
      if (topic === undefined || cost > left) continue;
      left -= cost;
      shown[index]?.push(topic);
    }
  }
  const lines = servers.map(({ name }, index) => [name, shown[index]?.join(", ")].filter(Boolean).join(": "));
  return `Servers:\n${fitting(lines, servers).join("\n")}`;
}

/** Leaves out servers only if their names alone cost too much. */
function fitting(lines: readonly string[], servers: readonly About[]): readonly string[] {
  let left = MAX_TOKENS - HEADING_TOKENS;
  const kept = lines.filter((_, index) => {
    left -= servers[index]?.tokens ?? 0;
    return left >= 0;
  });
  return kept.length === lines.length ? lines : [...kept, `and ${lines.length - kept.length} more`];
}

/** The topics that most servers share come first: a rare one is found by searching. */
function lineForAll(servers: readonly About[]): string {
  const counts = new Map<string, { servers: number; tokens: number }>();
  for (const { topics } of servers) {
    for (const [topic, tokens] of topics) {
      counts.set(topic, { servers: (counts.get(topic)?.servers ?? 0) + 1, tokens });
    }
  }
  let left = MAX_TOKENS - SENTENCE_TOKENS;
  const topics = [...counts]
    .sort(([, a], [, b]) => b.servers - a.servers)
    .filter(([, { tokens }]) => {
      left -= tokens;
      return left >= 0;
    })
    .map(([topic]) => topic);
  const tools = servers.reduce((sum, server) => sum + server.tools, 0);
  const about = topics.length === 0 ? "" : `, including tools for ${topics.join(", ")}`;
  return `There are ${servers.length} servers with ${tools} tools${about}.`;
}

function aboutOf({ status, tools = [], measure }: KnownServer): About {
  const name = replaceControls(status.name, "\ufffd").slice(0, LONGEST_NAME);
  const topics =
    measure?.topics ?? topicsOf(status.name, tools).map((topic): Topic => [topic, estimated(` ${topic},`)]);
  return {
    name,
    tokens: measure?.name ?? estimated(`\n${name}:`),
    tools: tools.length,
    // Measures are read from a file.
    topics: topics.filter(([topic]) => isTopic(topic)),
  };
}

/** Errs on the high side: short words cost more tokens for their length than text does. */
function estimated(text: string): number {
  return 1 + estimateTokens(text);
}
