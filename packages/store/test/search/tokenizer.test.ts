import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openMemoryDatabase } from "../../src/engine/sqlite/database.js";
import { stem } from "../../src/search/porter.js";
import { joinedTokensOf, tokensOf } from "../../src/search/tokenizer.js";

const DOCS = fileURLToPath(new URL("../../../../docs/", import.meta.url));
const LANGUAGES = `Straße ÉCOLE naïve façade Ørsted Việt Nam Ελλάδα Привет, мир! 日本語 テスト 한국어 café cafe\u0301 Ⅷ x² don't
  snake_case_name parseHTTPRequest v1.2.3 i18n e\u0301e\u0301 ǅ İstanbul ﬁle ___ _a_ 100% C++ naïveté`;

/** Asks FTS5 for the terms of a text, each with how often it occurs. */
function ftsTerms(texts: readonly string[]): Map<string, number> {
  const db = openMemoryDatabase();
  try {
    db.exec("CREATE VIRTUAL TABLE t USING fts5(body, content='', tokenize='porter unicode61 remove_diacritics 2')");
    db.exec("CREATE VIRTUAL TABLE v USING fts5vocab('t', 'row')");
    for (const text of texts) db.run("INSERT INTO t (body) VALUES (?)", text);
    return new Map(
      db.all<{ term: string; cnt: number }>("SELECT term, cnt FROM v").map(({ term, cnt }) => [term, cnt]),
    );
  } finally {
    db.close();
  }
}

function ownTerms(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) for (const term of tokensOf(text)) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}

function differences(texts: readonly string[]): string[] {
  const [theirs, ours] = [ftsTerms(texts), ownTerms(texts)];
  const terms = new Set([...theirs.keys(), ...ours.keys()]);
  return (
    [...terms]
      // Its tables are from an older Unicode, where some symbols were not assigned.
      .filter((term) => theirs.get(term) !== ours.get(term) && /[\p{L}\p{N}]/u.test(term))
      .map((term) => `${term}: ${theirs.get(term) ?? 0} in FTS5, ${ours.get(term) ?? 0} here`)
      .sort()
  );
}

describe("the tokenizer", () => {
  it("finds the same terms as FTS5 in all of our documentation", () => {
    const files = readdirSync(DOCS, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"));
    const texts = files.map((name) => readFileSync(join(DOCS, name), "utf8"));
    expect(texts.length).toBeGreaterThan(10);
    expect(differences(texts)).toEqual([]);
  });

  it("stems words of every ending like FTS5", () => {
    const starts = [
      "relat",
      "hop",
      "fall",
      "conflat",
      "trou",
      "siz",
      "happ",
      "oper",
      "radi",
      "adopt",
      "ply",
      "by",
      "tree",
    ];
    const ends =
      `e es ed ing s y ies ational tional enci anci izer logi bli alli entli eli ousli ization ation ator alism
      iveness fulness ousness aliti iviti biliti icate ative alize iciti ical ful ness al ance ence er ic able ible ant
      ement ment ent ion tion ou ism ate iti ous ive ize ll lle yed ying`.split(/\s+/);
    const words = starts.flatMap((start) => ends.map((end) => start + end));
    expect(differences([words.join(" ")])).toEqual([]);
  });

  it("folds case and diacritics of other scripts like FTS5", () => {
    expect(differences([LANGUAGES])).toEqual([]);
  });

  it("joins the terms of words with underscores", () => {
    expect([...joinedTokensOf("call parse_requests(snake_case_names, plain)")]).toEqual([
      "pars_request",
      "snake_case_name",
    ]);
    expect(stem("requests")).toBe("request");
  });
});
