import { type Embedder, silentLogger } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import type { Candidate } from "../../src/find/candidate-texts.js";
import { needsOf, plainQuestion, Ranker } from "../../src/find/operation-ranker.js";

function tool(name: string, description: string, params: readonly string[] = []): Candidate {
  const [server = "", tool = ""] = name.split(".");
  const properties = Object.fromEntries(params.map((param) => [param, { type: "string" }]));
  return { name, server, tool, description, schema: { type: "object", properties } };
}

const TOOLS = [
  tool("forge.create_issue", "Open a new issue in a repository.", ["title", "body"]),
  tool("forge.listIssues", "List the issues of a repository."),
  tool("forge.merge_pull_request", "Merge a pull request."),
  tool("tracker.create_issue", "Create an issue in a project."),
  tool("dining.book_table", "Reserve a table at a restaurant.", ["restaurant", "guests", "date"]),
  tool("dining.list_menus", "Show what a restaurant serves."),
  tool("sheets.read_sheet", "Read the rows of a spreadsheet."),
  tool("charts.bar_chart", "Draw a bar chart from rows."),
  tool("sky.forecast", "Weather of the coming days.", ["city"]),
  {
    ...tool("office.open_door", "Unlocks one of our doors."),
    schema: { type: "object", properties: { door: { enum: ["garage", "Vienna", 7, null] }, broken: null } },
  },
  tool("memory.add_observations", "Stores them for an entity."),
];

async function names(question: string, options: Parameters<Ranker<Candidate>["rank"]>[2] = {}, embedder?: Embedder) {
  const ranker = new Ranker<Candidate>({
    logger: silentLogger,
    waitMs: 60_000,
    ...(embedder === undefined ? {} : { embedder: async () => embedder }),
  });
  const { ranked } = await ranker.rank(question, TOOLS, options);
  await ranker.close();
  return ranked.map(({ candidate }) => candidate.name);
}

/** A model for which every text is about one of these subjects, or about nothing. All texts are somewhat alike. */
function modelOf(...subjects: RegExp[]): Embedder {
  const dimensions = subjects.length + 2;
  const vectorOf = (text: string) => {
    const subject = subjects.findIndex((each) => each.test(text));
    const vector = new Float32Array(dimensions);
    vector[0] = Math.sqrt(0.7);
    vector[subject === -1 ? dimensions - 1 : subject + 1] = Math.sqrt(0.3);
    return vector;
  };
  return {
    model: "subjects",
    dimensions,
    embed: async (texts) => texts.map(vectorOf),
    async [Symbol.asyncDispose]() {},
  };
}

describe("a question that names a tool", () => {
  it.each([
    ["forge.create_issue", "forge.create_issue"],
    ["tracker create issue", "tracker.create_issue"],
    ["mergePullRequest", "forge.merge_pull_request"],
    ["list issues", "forge.listIssues"],
    ["list-isues", "forge.listIssues"],
    ["merge PR", "forge.merge_pull_request"],
    ["please call sky.forecast and dining.list_menus for me", "dining.list_menus"],
  ])("%s", async (question, first) => {
    expect((await names(question))[0]).toBe(first);
  });

  it("comes before tools that the model prefers", async () => {
    const model = modelOf(/merge|read_sheet/i, /./);
    expect((await names("read_sheet", {}, modelOf(/read_sheet|weather/i, /./)))[0]).toBe("sheets.read_sheet");
    expect((await names("merge pull request", {}, model))[0]).toBe("forge.merge_pull_request");
  });
});

describe("a question in words", () => {
  it.each([
    ["a value that a parameter accepts", "go to the garage", "office.open_door"],
    ["words for remembering", "remember this about her", "memory.add_observations"],
  ])("is matched by %s", async (_what, question, first) => {
    expect((await names(question))[0]).toBe(first);
  });

  it("is matched by its words, however many names and dates it also has", async () => {
    const question = "Please book a table at Da Luigi, Via Roma 12, for 4 guests on Friday 14 March at 19:00";
    expect((await names(question))[0]).toBe("dining.book_table");
    // The model sees an address and a date, and prefers the forecast.
    expect((await names(question, {}, modelOf(/weather|Via Roma/i)))[0]).toBe("dining.book_table");
  });

  it("is matched by synonyms and written-out abbreviations", async () => {
    expect((await names("reserve a place to eat with seats"))[0]).toBe("dining.book_table");
    expect((await names("file a new bug in the repo"))[0]).toBe("forge.create_issue");
    expect((await names("excel workbook"))[0]).toBe("sheets.read_sheet");
  });

  it("is matched by meaning if it shares no words", async () => {
    expect((await names("will I need an umbrella", {}, modelOf(/weather|umbrella/i)))[0]).toBe("sky.forecast");
  });

  it("finds a tool for each need of a task", async () => {
    const found = await names("Read the spreadsheet with our sales, draw a chart from it and open an issue about it");
    expect(found.slice(0, 5)).toEqual(
      expect.arrayContaining(["sheets.read_sheet", "charts.bar_chart", "forge.create_issue"]),
    );
  });

  it("prefers what is used among equals, and never over a better match", async () => {
    const weightOf = (used: string) => (name: string) => (name === used ? 5 : 0);
    expect((await names("merge the requests", { weightOf: weightOf("tracker.create_issue") }))[0]).toBe(
      "forge.merge_pull_request",
    );
    expect((await names("create issue", { weightOf: weightOf("tracker.create_issue") }))[0]).toBe(
      "tracker.create_issue",
    );
    expect((await names("create issue", { weightOf: weightOf("forge.create_issue") }))[0]).toBe("forge.create_issue");
    expect(await names("book a table", { weightOf: weightOf("sky.forecast") })).not.toContain("sky.forecast");
  });
});

describe("values in a question", () => {
  it.each([
    ["save it in ~/reports/weather/june.md.", "save it in md file."],
    ["read C:\\docs\\a.txt and ./src/index.ts", "read txt file and ts file"],
    ["list ~/pdf", "list folder"],
    ["see https://example.org/a?b=1, and write to ada@example.org", "see URL, and write to email address"],
    ["who owns www.example.org", "who owns website"],
    ["24/7 and/or 1.5 of them", "24/7 and/or 1.5 of them"],
  ])("%s becomes %s", (question, plain) => {
    expect(plainQuestion(question)).toBe(plain);
  });

  it("do not match tools by accident", async () => {
    expect((await names("read the rows of ~/issues/create_issue/forecast.xlsx"))[0]).toBe("sheets.read_sheet");
  });
});

describe("the needs of a task", () => {
  it("are its parts, if each says enough", () => {
    expect(needsOf("Read the sales sheet, plot it as a bar chart and save a picture.")).toEqual([
      "Read the sales sheet",
      "plot it as a bar chart",
      "save a picture",
    ]);
  });

  it("include what follows the last one", () => {
    expect(needsOf("Create a report about sales, then send it to Ada. Use slack")).toEqual([
      "Create a report about sales",
      "then send it to Ada Use slack",
    ]);
  });

  it("are none for a single question", () => {
    expect(needsOf("open a pull request")).toEqual([]);
    expect(needsOf("salt, pepper")).toEqual([]);
  });

  it("are limited in number", () => {
    expect(needsOf("read a file, ".repeat(10_000))).toHaveLength(8);
  });
});
