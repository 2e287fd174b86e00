// Registers what finds and reads documents.
import { TrunklineError } from "@trunkline/core";
import { type Command, Option } from "commander";
import { storePathOf, wholeNumberOption, withCommonOptions, withFilters } from "../flags.js";
import type { GetOptions, ListOptions, SearchOptions } from "./finding.js";
import type { StoreGroup } from "./group.js";

export function registerFinding({ store, context, setExitCode }: StoreGroup): void {
  const search = store
    .command("search")
    .description("find documents by words and by meaning, the best first")
    .argument("[query...]", "what to look for")
    .addOption(wholeNumberOption("--limit <number>", "how many results", { from: 1 }).default(10))
    .addOption(
      new Option("--type <type>", "how to search (default: hybrid)").choices(["hybrid", "keyword", "semantic"]),
    )
    .option("--no-fuzzy", "take words as they are written, typos included")
    .addOption(
      new Option("--similarity <number>", "how alike a corrected word has to be, from 0 to 1")
        .default(0.7)
        .argParser(parseSimilarity),
    )
    .option("--hash <digits>", "every document whose content has this hash, or begins with these 8 digits or more")
    .option("--paths-only", "print only the paths")
    .option("--line-numbers", "number the lines that are shown")
    .addOption(wholeNumberOption("--context <lines>", "lines to show around the one that was found").default(0))
    .option("--path-pattern <glob>", "only paths that match")
    .option("--extension <extension>", "only files with this extension")
    .option("--cursor <cursor>", "go on where an earlier search ended")
    .option("--explain", "say how each score came about");
  withCommonOptions(withFilters(search)).action(
    async (words: string[], options: Omit<SearchOptions, "words" | "store">, command: Command) => {
      const finding = await import("./finding.js");
      setExitCode(await finding.search(context, { ...options, words, store: storePathOf(command) }));
    },
  );

  const list = store
    .command("list")
    .description("list documents")
    .argument("[pattern]", "a glob in quotes, such as '*.md' or 'src/**'")
    .addOption(wholeNumberOption("--limit <number>", "how many (default: 100)", { from: 1 }))
    .addOption(wholeNumberOption("--offset <number>", "how many to pass over"))
    .addOption(
      new Option("--sort-by <by>", "the order (default: name)").choices([
        "name",
        "size",
        "created",
        "modified",
        "indexed",
      ]),
    )
    .addOption(new Option("--sort-order <order>", "up or down").choices(["asc", "desc"]))
    .addOption(wholeNumberOption("--recent <number>", "only so many that were added or changed last", { from: 1 }))
    .addOption(new Option("--type <type>", "only these").choices(["text", "binary"]))
    .option("--extension <extension>", "only files with this extension")
    .option("--paths-only", "print only the paths")
    .option("--cursor <cursor>", "go on where an earlier list ended");
  withCommonOptions(withFilters(list)).action(
    async (pattern: string | undefined, options: Omit<ListOptions, "pattern" | "store">, command: Command) => {
      const finding = await import("./finding.js");
      setExitCode(await finding.list(context, { ...options, pattern, store: storePathOf(command) }));
    },
  );

  const get = store
    .command("get")
    .description("print a document's content, byte for byte; --json shows its fields and versions")
    .argument("<path|hash>", "a path or the end of one, or a hash or the first 8 digits of one")
    .option("--lines <range>", "only these lines, such as 10-40 or 10-; the first is 1")
    .option("--bytes <range>", "only these bytes, such as 0-1023 or 512-; the first is 0")
    .option("--symbol <name>", "only the lines of this function, class, method …")
    .addOption(wholeNumberOption("--version <number>", "an earlier version", { from: 1 }))
    .option("--graph", "show what it is related to, in place of the content")
    .addOption(
      wholeNumberOption("--depth <steps>", "how far to go with --graph, up to 5 (default: 2)", { from: 1, to: 5 }),
    )
    .option("--include-content", "with --json or --graph: the content as well")
    .option("--collection <name>", "only in this collection")
    .option("-o, --output <file>", "write it to this file, whole or not at all");
  withCommonOptions(get).action(
    async (target: string, options: Omit<GetOptions, "target" | "store">, command: Command) => {
      const finding = await import("./finding.js");
      setExitCode(await finding.get(context, { ...options, target, store: storePathOf(command) }));
    },
  );
}

function parseSimilarity(text: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (value >= 0 && value <= 1) return value;
  throw new TrunklineError("USAGE", `"${text}" is no value for --similarity.`, { hint: "Give a number from 0 to 1." });
}
