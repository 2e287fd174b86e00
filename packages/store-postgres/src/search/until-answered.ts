// Runs synchronous code whose questions only a database can answer.

/**
 * Runs the work again and again, each time with the answers to what it asked before, until it asks nothing new. The work
 * must be pure. `ask` returns undefined for what is not known yet; `answer` gets all new questions at once, so a walk
 * through a graph takes one round trip for each step.
 */
export async function untilAnswered<A, T>(
  work: (ask: (question: string) => A | undefined) => T,
  answer: (questions: readonly string[]) => Promise<ReadonlyMap<string, A>>,
): Promise<T> {
  const known = new Map<string, A | undefined>();
  while (true) {
    const asked = new Set<string>();
    const result = work((question) => {
      if (!known.has(question)) asked.add(question);
      return known.get(question);
    });
    if (asked.size === 0) return result;
    const answers = await answer([...asked]);
    for (const question of asked) known.set(question, answers.get(question));
  }
}
