// Registers `graph`.
import type { Command } from "commander";
import { storePathOf, wholeNumberOption, withCommonOptions } from "../flags.js";
import type { GraphOptions } from "./graph.js";
import type { StoreGroup } from "./group.js";

export function registerGraph({ store, context, setExitCode }: StoreGroup): void {
  const graph = store
    .command("graph")
    .description("show what a document or symbol imports, calls, contains and refers to, as a tree")
    .argument("[name]", "a path or the end of one, the name of a symbol, a hash, or the key of a node")
    .option("--hash <digits>", "begin at the content with this hash")
    .option("--node-key <key>", "begin at this node, such as symbol:/src/a.ts#run or tag:draft")
    .option("--relation <relation>", "only this one: imports, calls, contains, defines, inherits, references, tagged …")
    .addOption(wholeNumberOption("--depth <steps>", "how far to go, up to 5 (default: 1)", { from: 1, to: 5 }))
    .addOption(wholeNumberOption("--limit <number>", "how many nodes at most (default: 100)", { from: 1 }))
    .option("--reverse", "what leads here: who imports it, calls it, refers to it")
    .option("--list-types", "which types of nodes there are, and how many of each")
    .option("--list-type <type>", "the nodes of one type, such as function or class")
    .option("--collection <name>", "only in this collection");
  withCommonOptions(graph, ["text", "json", "mermaid"]).action(
    async (target: string | undefined, options: Omit<GraphOptions, "target" | "store">, command: Command) => {
      const { graph: run } = await import("./graph.js");
      setExitCode(await run(context, { ...options, target, store: storePathOf(command) }));
    },
  );
}
