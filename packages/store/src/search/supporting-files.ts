// Recognises files that support a project without being part of what it does: tests, benchmarks, examples, lock files,
// generated and vendored code, changelogs. They repeat the words of the code they belong to, so they would rank above
// it. Only names count, and only below the folder that was added. Pure.
import { splitIdentifier } from "../engine/content/text.js";

/** Why a file counts less. The position of a kind is its number in {@link supportingKind}; 0 is an ordinary file. */
export const SUPPORTING_KINDS = [
  "none",
  "test",
  "benchmark",
  "example",
  "lock file",
  "generated",
  "changelog",
] as const;

const [TEST, BENCHMARK, EXAMPLE, LOCK, GENERATED, CHANGELOG] = [1, 2, 3, 4, 5, 6];

/** Folder names that mean the same in every project. */
const FOLDERS: readonly (readonly [RegExp, number])[] = [
  [/^(?:__(?:tests?|mocks|fixtures|snapshots)__|test[-_]?data|testutils?|test[-_]utils?|fixtures)$/, TEST],
  [/^(?:node_modules|vendor|vendored|third[-_]party|__generated__)$/, GENERATED],
];

/** Folder names that can also be an ordinary word, so they only count for files that are not prose. */
const CODE_FOLDERS: readonly (readonly [RegExp, number])[] = [
  [/^(?:tests?|specs?|e2e|mocks?|(?:unit|integration|e2e|functional)[-_]?tests?|[a-z]+[-_.]tests?)$/, TEST],
  [/^(?:bench|benches|benchmarks?)$/, BENCHMARK],
  [/^(?:examples?|samples|demos?)$/, EXAMPLE],
  [/^generated$/, GENERATED],
];

const CODE_NAMES: readonly (readonly [RegExp, number])[] = [
  [/(?:^|[-_.])(?:tests?|specs?|e2e)(?:-d)?(?:\.[a-z]+)?\.[a-z]+$|^(?:test|spec)[-_]|^conftest\.py$|\.snap$/i, TEST],
  [/[a-z0-9](?:Tests?|Spec|IT)\.(?:java|kt|kts|scala|groovy|cs|fs|vb|php|swift|m|mm|cpp|dart)$/, TEST],
  [/(?:^|[-_.])bench(?:mark)?s?\.[a-z]+$|^bench(?:mark)?[-_]/i, BENCHMARK],
  [/(?:^|[-_.])(?:example|stories|story)s?\.[a-z]+$/i, EXAMPLE],
  [
    /\.(?:min\.(?:js|css|mjs)|(?:js|css)\.map|pb\.(?:go|cc|h)|g\.dart|designer\.cs)$|_pb2(?:_grpc)?\.py$|[-_.]gen(?:erated)?\.[a-z]+$/i,
    GENERATED,
  ],
];

/** Names that mean the same in every project. */
const NAMES: readonly (readonly [RegExp, number])[] = [
  [
    /^(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum|packages\.lock\.json|bun\.lockb?|.+\.lock|\.pnp\.c?js)$/i,
    LOCK,
  ],
  [/^(?:changelog|changes|release[-_]?notes|news)(?:[-_.].*)?$/i, CHANGELOG],
];

const PROSE = /(?:^[^.]+|\.(?:md|mdx|markdown|txt|rst|adoc|org|tex|html?|pdf))$/i;

/** Words in a query that ask for files of a kind. */
const ASKING: readonly (readonly [RegExp, number])[] = [
  [/^(?:tests?|tested|testing|specs?|e2e|fixtures?|mock(?:s|ed|ing)?|snapshots?|testdata|testutils?)$/, TEST],
  [/^(?:bench|benches|benchmark(?:s|ed|ing)?)$/, BENCHMARK],
  [/^(?:examples?|samples?|demos?|stories)$/, EXAMPLE],
  [/^(?:lock|lockfiles?|locked|dependency|dependencies|shrinkwrap)$/, LOCK],
  [/^(?:vendor(?:ed)?|generated|minified|bundled|protobuf|pb|pb2)$/, GENERATED],
  [/^(?:changelogs?|changes|changed|news|releases?|released|versions?)$/, CHANGELOG],
];

/** Returns the number of the file's kind. `path` is relative to the folder that was added, with `/` or `\`. */
export function supportingKind(path: string): number {
  const folders = path.split(/[/\\]/);
  const name = folders.pop() ?? "";
  const isProse = PROSE.test(name);
  for (const folder of folders) {
    const lower = folder.toLowerCase();
    const kind = kindOf(FOLDERS, lower) || (isProse ? 0 : kindOf(CODE_FOLDERS, lower));
    if (kind !== 0) return kind;
  }
  return kindOf(NAMES, name) || (isProse ? 0 : kindOf(CODE_NAMES, name));
}

/** Returns the kinds that a query asks for. */
export function kindsAskedFor(query: string): ReadonlySet<number> {
  const words = splitIdentifier(query).map((word) => word.toLowerCase());
  return new Set(words.map((word) => kindOf(ASKING, word)).filter((kind) => kind !== 0));
}

function kindOf(rules: readonly (readonly [RegExp, number])[], name: string): number {
  return rules.find(([pattern]) => pattern.test(name))?.[1] ?? 0;
}
