// What a server is about, in a few words taken from the names of its tools.

/** Words in tool names that say what is done, not with what, or that say nothing. */
const EMPTY_WORDS: ReadonlySet<string> = new Set(
  `add all an and analyze append apply are as at available batch be browse build by calculate call cancel change check clear
  close complete compute configure confirm connect convert copy count create current custom data delete describe detail
  details disable do download edit enable end execute export extract fetch filter find finish for from fetch full generate
  get give go has health help id ids import in info information init insert into is item items join key kill latest list
  load lookup make manage many mark mcp merge modify move multiple my name new next of on open or other parse patch perform
  ping play post preview process publish push put query read rebuild recent refresh register reload remove rename replace
  reply request reset resolve restart result results retrieve return run save schedule search select send server set setup
  show single start stat stats status stop store submit summary switch sync test the to toggle tool tools track trigger type
  undo unset update upload upsert use using validate value values verify view wait watch with write`.split(/\s+/),
);

/** Short enough for a list, and nothing but a word: tool names come from servers. */
const WORD = /^[a-z]{3,16}$/;
const MOST_TOPICS = 6;
/** A server with more tools is about the same as its first ones. */
const MOST_TOOLS = 500;

/** Returns words for what these tools are about, the most frequent first. */
export function topicsOf(server: string, tools: readonly { readonly tool: string }[]): readonly string[] {
  const own = new Set(wordsIn(server).map(singular));
  const counts = new Map<string, number>();
  for (const { tool } of tools.slice(0, MOST_TOOLS)) {
    for (const word of new Set(wordsIn(tool).map(singular))) {
      if (!own.has(word) && !EMPTY_WORDS.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  // The sort is stable: of equally frequent words, the first comes first.
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MOST_TOPICS)
    .map(([word]) => word);
}

/** Whether a text can be a topic: for topics that were read from a file. */
export function isTopic(text: string): boolean {
  return WORD.test(text);
}

function wordsIn(name: string): string[] {
  return name
    .slice(0, 200)
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(isTopic);
}

function singular(word: string): string {
  if (/[^aeious]ies$/.test(word)) return `${word.slice(0, -3)}y`;
  // Not "analysis", "canvas", "status" and "access".
  return /[^aius]s$/.test(word) && word.length > 4 ? word.slice(0, -1) : word;
}
