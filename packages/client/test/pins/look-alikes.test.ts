// One table of look-alike letters guards names, definitions and questions.
import { describe, expect, it } from "vitest";
import { looksLike } from "../../src/channel/secret-words.js";
import { instructionsIn } from "../../src/pins/model-instructions.js";
import { Neighbours } from "../../src/pins/neighbours.js";
import { plainLetters, skeletonOf } from "../../src/pins/plain-letters.js";

/** Written as `latin: look-alikes`, from both tables that the one replaces. */
const PINS =
  "a:аαɑᴀ b:Ьвʙ c:сϲᴄ d:ԁɗᴅ e:еєεᴇ f:ғꜰ g:ɡԍɢ h:һнʜ i:іιɩıɪ j:јϳᴊ k:кκᴋ l:ӏłⅼʟ m:мϻᴍ n:ոпηɴ o:оοօσᴏ p:рρᴘ q:ԛ r:гʀ s:ѕꜱ t:тτᴛ u:υսцᴜ v:ѵνᴠ w:ԝωшᴡ x:хχ y:уγүʏ z:ᴢ";
const QUESTIONS =
  "a:аɑαᴀ b:ьƅʙ c:сϲᴄ d:ԁᴅ e:еҽєᴇ f:ꜰ g:ɡɢ h:һʜ i:іıιɪ j:јᴊ k:кκᴋ l:ӏⅼʟ m:мᴍ n:ոпɴ o:оοσᴏ p:рρᴘ q:ԛ r:гʀ s:ѕꜱ t:тτᴛ u:υսᴜ v:ѵνᴠ w:ԝѡωᴡ x:хχ y:уүγʏ z:ᴢ";
const PAIRS = [PINS, QUESTIONS].flatMap((table) =>
  table.split(" ").flatMap((row) => [...row.slice(2)].map((letter) => [letter, row.slice(0, 1)] as const)),
);

/** Everyday words in scripts that share letters with the table. */
const FOREIGN = [
  "Введите название ветки",
  "Какой цвет вам нравится?",
  "Максимальное число токенов",
  "Шаг сетки, в пикселях",
  "Сергій Брін, скріншот, новини",
  "Изберете език и шрифт",
  "Επιλέξτε την ημέρα και την ώρα",
  "Ποια είναι η ηλικία σας;",
  "Բարեւ, ընտրեք լեզուն",
  "Wybierz główną gałąź i łącze",
];

describe("a letter that looks like a Latin one", () => {
  it("is read as that one in names, definitions and questions", () => {
    for (const [letter, latin] of PAIRS) {
      const name = `read_${letter}1`;
      const readings = [skeletonOf(name), plainLetters(name), looksLike(name)];
      expect([letter, ...readings]).toEqual([letter, ...readings.map(() => `read_${latin}1`)]);
    }
  });

  it.each(["ьranch", "вranch", "neѡs", "neшs", "ҽvents", "εvents"])("makes the name %s a twin", (name) => {
    const known = ["branch", "news", "events"].map((tool) => ({ server: "notes", tool }));
    expect(new Neighbours("other", () => known).lookalike(name)).toMatch(/^notes\./);
  });
});

describe("everyday text in other scripts", () => {
  it.each(FOREIGN)("holds no instruction: %s", (text) => {
    expect(instructionsIn(text)).toEqual([]);
    expect(plainLetters(text)).not.toMatch(/[a-z]{3}.*[а-я]|[а-я].*[a-z]{3}/);
  });

  it.each(FOREIGN)("names no twin of an English tool: %s", (text) => {
    const known = ["pin", "token", "news", "branch"].map((tool) => ({ server: "notes", tool }));
    for (const tool of text.split(/\P{L}+/u))
      expect(new Neighbours("other", () => known).lookalike(tool)).toBeUndefined();
  });
});
