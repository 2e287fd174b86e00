// `trunkline store grep`: what grep and ripgrep do for files, for everything in the store.
import { TrunklineError } from "@trunkline/core";
import type { GrepMatch, GrepParams, GrepResult } from "@trunkline/store";
import { type OpenedStore, openCommandStore } from "../../app/command-store.js";
import { EXIT } from "../../app/exit-codes.js";
import type { CommandContext } from "../../terminal/context.js";
import { counted, type StoreOptions, wantsJson, writeOut } from "../../terminal/output.js";
import type { Repeated } from "../flags.js";
import { noteNothing } from "./finding.js";
import { GrepPrinter } from "./grep-output.js";
import { outJson } from "./out-json.js";

/** Options beyond the operation's parameters. */
interface GrepOptions extends StoreOptions {
  readonly regexp?: string;
  readonly smartCase?: boolean;
  readonly quiet?: boolean;
  /** `undefined` means the default: show line numbers. */
  readonly lineNumber?: boolean;
  readonly heading?: boolean;
  readonly null?: boolean;
  readonly glob?: Repeated;
  readonly page?: boolean;
}

/** Prints matching lines, page by page. The exit code is 1 if there are none, as with grep. */
export async function grep(context: CommandContext, given: Partial<GrepParams>, options: GrepOptions): Promise<number> {
  const params = paramsOf(given, options);
  await using opened = await openCommandStore(context, { ...options, reading: true });
  return wantsJson(options)
    ? await grepAsJson(context, opened, { options, params })
    : await grepAsText(context, opened, { options, params });
}

interface Query {
  readonly options: GrepOptions;
  readonly params: GrepParams;
}

/** Builds the parameters. After `-e`, the first argument is a path. */
function paramsOf(given: Partial<GrepParams>, options: GrepOptions): GrepParams {
  const words = [...(given.pattern === undefined ? [] : [given.pattern]), ...(given.paths ?? [])];
  const [pattern, ...paths] = options.regexp === undefined ? words : [options.regexp, ...words];
  if (pattern === undefined) {
    throw new TrunklineError("USAGE", "What do you want to find?", {
      hint: "trunkline store grep <pattern> [paths…]",
    });
  }
  if (pattern.includes("\n")) {
    throw new TrunklineError("USAGE", "A pattern matches within one line, so it cannot contain a line feed.");
  }
  const globs = options.glob ?? [];
  return {
    ...given,
    pattern,
    paths,
    ignoreCase: given.ignoreCase || (options.smartCase === true && !hasCapital(pattern)),
    // Listing files is the fastest way to check for a match.
    filesWithMatches: given.filesWithMatches || (options.quiet && !wantsJson(options)),
    // For text output the printer adds line numbers; in JSON they are part of the text only on request.
    lineNumbers: wantsJson(options) && given.lineNumbers === true,
    include: listOrNone([...(given.include ?? []), ...globs.filter((glob) => !glob.startsWith("!"))]),
    exclude: listOrNone([
      ...(given.exclude ?? []),
      ...globs.filter((glob) => glob.startsWith("!")).map((glob) => glob.slice(1)),
    ]),
  };
}

/** Whether a pattern contains a literal capital letter, not a class such as `\S`. */
function hasCapital(pattern: string): boolean {
  return /\p{Lu}/u.test(pattern.replace(/\\(?:[pP]\{[^}]*\}|.)/gu, ""));
}

function listOrNone(globs: readonly string[]): readonly string[] | undefined {
  return globs.length === 0 ? undefined : globs;
}

/** Yields the pages of the answer, or just one if only one is wanted. */
async function* pagesOf(opened: OpenedStore, { options, params }: Query): AsyncGenerator<GrepResult> {
  let { cursor } = params;
  do {
    const page: GrepResult = await opened.store.grep({ ...params, cursor }, opened.calling("grep"));
    opened.clearProgress();
    yield page;
    cursor = page.cursor;
  } while (cursor !== undefined && !options.page);
}

async function grepAsText(context: CommandContext, opened: OpenedStore, query: Query): Promise<number> {
  const { options, params } = query;
  const { palette } = context;
  const printer = new GrepPrinter({
    pattern: params,
    palette,
    cwd: context.cwd,
    heading: options.heading ?? palette.isTerminal,
    numbers: options.lineNumber ?? true,
    hasContext: [params.context, params.beforeContext, params.afterContext].some((lines) => (lines ?? 0) > 0),
    ending: options.null ? "\0" : "\n",
  });
  let found = false;
  let last: GrepResult | undefined;
  for await (const page of pagesOf(opened, query)) {
    last = page;
    const isEmpty = "matches" in page ? page.matches.length === 0 : page.files.length === 0;
    found ||= !isEmpty;
    if (options.quiet) {
      if (found) break;
      continue;
    }
    await writeOut(context, Buffer.from(printer.page(page)));
  }
  if (options.quiet) return found ? EXIT.success : EXIT.failure;
  if (options.page && last?.cursor !== undefined) context.note(`There is more: --cursor ${last.cursor}`);
  if (found) return EXIT.success;
  const binary = last?.binary ?? 0;
  if (binary > 0) {
    context.note(`Nothing matches; ${counted(binary, "binary document was", "binary documents were")} skipped.`);
  } else if (palette.isTerminal) await noteNothing(context, opened);
  return EXIT.failure;
}

async function grepAsJson(context: CommandContext, opened: OpenedStore, query: Query): Promise<number> {
  const matches: GrepMatch[] = [];
  const files: unknown[] = [];
  let answer: GrepResult | undefined;
  for await (const page of pagesOf(opened, query)) {
    answer = page;
    if ("matches" in page) matches.push(...page.matches);
    else files.push(...page.files);
  }
  const isLines = answer !== undefined && "matches" in answer;
  outJson(context, { ...answer, ...(isLines ? { matches } : { files }) });
  return (isLines ? matches : files).length === 0 ? EXIT.failure : EXIT.success;
}
