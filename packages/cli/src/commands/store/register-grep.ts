// Registers `grep`. Its options are named as those of grep and ripgrep.
import { type Command, Option } from "commander";
import { EXIT } from "../../app/exit-codes.js";
import { repeatable, storePathOf, wholeNumberOption, withCommonOptions, withFilters } from "../flags.js";
import type { GrepOptions } from "./grep.js";
import type { StoreGroup } from "./group.js";

export function registerGrep({ store, context, setExitCode }: StoreGroup): void {
  const grep = store
    .command("grep")
    .description("print lines that match a pattern, complete and in the order of paths; patterns are ripgrep's")
    .argument("[pattern]", "what to look for; after -e, a path")
    .argument("[path...]", "documents and folders: whole paths, relative ones, or the ends of paths (default: all)")
    .option("-e, --regexp <pattern>", "the pattern, where it begins with a dash")
    .option("-F, --fixed-strings", "the pattern is plain text")
    .option("-i, --ignore-case", "upper and lower case are the same")
    .option("-S, --smart-case", "the same, unless the pattern has a capital letter")
    .option("-w, --word-regexp", "only whole words")
    .option("-v, --invert-match", "the lines that do not match")
    .option("-c, --count", "only how many lines of each document match")
    .option("-l, --files-with-matches", "only the paths")
    .option("-q, --quiet", "print nothing: the exit code says whether something matches")
    .addOption(wholeNumberOption("-m, --max-count <number>", "so many lines of each document at most; 0 for all"))
    .addOption(wholeNumberOption("-A, --after-context <lines>", "lines to show after each match"))
    .addOption(wholeNumberOption("-B, --before-context <lines>", "lines to show before each match"))
    .addOption(wholeNumberOption("-C, --context <lines>", "lines to show on both sides of each match"))
    .option("-n, --line-number", "with line numbers; this is the default, and in JSON puts them into the text")
    .option("-N, --no-line-number", "without line numbers")
    .option("--heading", "the path once, above its lines; this is the default at a terminal")
    .option("--no-heading", "the path in front of each line; this is the default in a pipe")
    .addOption(new Option("--color <when>", "colours").choices(["auto", "always", "never"]).default("auto"))
    .option("-0, --null", "with -l: end each path with a zero byte, for xargs -0")
    .addOption(repeatable("--include <glob>", "only documents that match"))
    .addOption(repeatable("--exclude <glob>", "not documents that match"))
    .addOption(repeatable("-g, --glob <glob>", "the same as --include, or with ! in front as --exclude"))
    .option("--cursor <cursor>", "go on where an earlier page ended")
    .option("--page", "stop after one page, and say with which cursor to go on")
    // Habits of the fingers: folders are always searched whole, paths are always shown, patterns are always extended.
    .addOption(new Option("-r, --recursive").hideHelp())
    .addOption(new Option("-H, --with-filename").hideHelp())
    .addOption(new Option("-E, --extended-regexp").hideHelp());
  withCommonOptions(withFilters(grep)).action(
    async (
      pattern: string | undefined,
      paths: string[],
      options: Omit<GrepOptions, "words" | "store">,
      command: Command,
    ) => {
      // 1 says that nothing matches, so that whatever goes wrong needs another code.
      setExitCode(EXIT.usage);
      const words = pattern === undefined ? [] : [pattern, ...paths];
      const { grep: run } = await import("./grep.js");
      setExitCode(await run(context, { ...options, words, store: storePathOf(command) }));
    },
  );
}
