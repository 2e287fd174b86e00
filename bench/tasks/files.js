// Tasks for server-filesystem: reading, searching, writing, and errors.
import { deepEqual, equal, match } from "node:assert/strict";
import { ask, execute, query, resultOf, resultsOf } from "./composite.js";
import { call } from "./direct.js";

const REPORTS = Array.from({ length: 10 }, (_, index) => `in/reports/${String(index + 1).padStart(2, "0")}.json`);
const DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "holidays"];

/** Writes a report of about 900 characters. @param {number} number */
function reportText(number) {
  const orders = Array.from({ length: 12 }, (_, index) => ({
    id: number * 100 + index,
    item: `article ${(index * 7 + number) % 40}`,
    amount: (index * 13 + number) % 9,
  }));
  return JSON.stringify({ number, branch: `branch ${number}`, orders, total: 1000 + 37 * number }, null, 1);
}

/** @param {string} text */
function sumOfTotals(text) {
  const totals = [...text.matchAll(/"total": (\d+)/g)].map(([, total]) => Number(total));
  return `The ${totals.length} totals add up to ${totals.reduce((sum, total) => sum + total, 0)}.`;
}

/** @param {string} day */
function plan(day) {
  return `# ${day}\n\nOpen from 9 to ${day === "saturday" ? "13" : "18"}.\n`;
}

/** @param {string} text */
function portIn(text) {
  return `It listens on port ${/"port": (\d+)/.exec(text)?.[1]}.`;
}

/** @param {string} text */
function nameOfSettings(text) {
  return `in/app/${/settings\.\w+/.exec(text)?.[0]}`;
}

const VERSION_EDITS = [
  { path: "in/package.json", edits: [{ oldText: '"version": "1.2.3"', newText: '"version": "1.3.0"' }] },
  { path: "in/CHANGELOG.md", edits: [{ oldText: "## Unreleased", newText: "## Unreleased\n\n## 1.3.0" }] },
];

/** @type {import("./tasks.js").Task[]} */
export const FILES = [
  {
    name: "one small file",
    say: "Which port does the service in in/service.json listen on?",
    files: { "in/service.json": '{\n  "name": "orders",\n  "port": 8417,\n  "workers": 4\n}\n' },
    *direct() {
      return portIn((yield* ask(call("files.read_text_file", { path: "in/service.json" }))).text);
    },
    needs: { "read a text file": "files.read_text_file" },
    *composite() {
      const answer = yield* ask(query({ op: "files.read_text_file", params: { path: "in/service.json" } }));
      return portIn(resultOf(answer).content);
    },
    check: ({ answer }) => match(answer, /8417/),
  },
  {
    name: "ten files, summed up",
    say: "Add up the totals of the reports in/reports/01.json to in/reports/10.json.",
    files: Object.fromEntries(REPORTS.map((path, index) => [path, reportText(index + 1)])),
    *direct() {
      return sumOfTotals((yield* ask(call("files.read_multiple_files", { paths: REPORTS }))).text);
    },
    needs: { "read several files at once": "files.read_multiple_files" },
    *composite() {
      const answer = yield* ask(query({ op: "files.read_multiple_files", params: { paths: REPORTS } }));
      return sumOfTotals(resultOf(answer).content);
    },
    check: ({ answer }) => match(answer, /^The 10 totals add up to 12035\.$/),
  },
  {
    name: "search, then read what was found",
    say: "Somewhere below in/ is a Markdown file whose name begins with deploy. Who has to approve a deployment?",
    files: {
      "in/docs/ops/deployment.md": "# Deployment\n\nEvery deployment is approved by the release captain.\n",
      "in/docs/ops/backup.md": "# Backup\n\nNightly.\n",
      "in/docs/start.md": "# Start\n\nBegin here.\n",
    },
    *direct() {
      const found = yield* ask(call("files.search_files", { path: "in", pattern: "**/deploy*.md" }));
      const file = yield* ask(call("files.read_text_file", { path: found.text.trim() }));
      return `${/approved by (.*)\./.exec(file.text)?.[0]}`;
    },
    needs: { "search files by name": "files.search_files", "read a text file": "files.read_text_file" },
    *composite() {
      const answer = yield* ask(
        query(
          { op: "files.search_files", params: { path: "in", pattern: "**/deploy*.md" } },
          { op: "files.read_text_file", params: { path: "$prev.content" } },
        ),
      );
      return `${/approved by (.*)\./.exec(resultsOf(answer)[1].content)?.[0]}`;
    },
    isPipeline: true,
    check: ({ answer }) => match(answer, /release captain/),
  },
  {
    name: "a missing file, and another try",
    say: "Which log level do the settings in in/app/settings.yaml have? The ending may be another one.",
    files: { "in/app/settings.toml": 'level = "warn"\ncolour = true\n', "in/app/main.py": "run()\n" },
    *direct() {
      yield [call("files.read_text_file", { path: "in/app/settings.yaml" })];
      const list = yield* ask(call("files.list_directory", { path: "in/app" }));
      const file = yield* ask(call("files.read_text_file", { path: nameOfSettings(list.text) }));
      return `The level is ${/level = "(\w+)"/.exec(file.text)?.[1]}.`;
    },
    needs: { "read a text file": "files.read_text_file", "list a folder": "files.list_directory" },
    *composite() {
      yield [query({ op: "files.read_text_file", params: { path: "in/app/settings.yaml" } })];
      const list = yield* ask(query({ op: "files.list_directory", params: { path: "in/app" } }));
      const path = nameOfSettings(list.text);
      const file = resultOf(yield* ask(query({ op: "files.read_text_file", params: { path } })));
      return `The level is ${/level = "(\w+)"/.exec(file.content)?.[1]}.`;
    },
    check: ({ answer }) => match(answer, /warn/),
  },
  {
    name: "a folder and eight new files",
    say: "Make a folder out/week with a file for each day and one for holidays, such as monday.md: its name as a heading, and the opening hours, 9 to 18, on Saturday 9 to 13.",
    *direct() {
      yield [call("files.create_directory", { path: "out/week" })];
      const written = yield DAYS.map((day) =>
        call("files.write_file", { path: `out/week/${day}.md`, content: plan(day) }),
      );
      return `${written.filter(({ isError }) => !isError).length} files are written.`;
    },
    needs: { "create a folder": "files.create_directory", "write a file": "files.write_file" },
    *composite() {
      const answer = yield* ask(
        execute(
          { op: "files.create_directory", params: { path: "out/week" } },
          ...DAYS.map((day) => ({
            op: "files.write_file",
            params: { path: `out/week/${day}.md`, content: plan(day) },
          })),
        ),
      );
      return `${resultOf(answer).succeeded - 1} files are written.`;
    },
    isPipeline: true,
    check({ answer, world }) {
      match(answer, /^8 files/);
      deepEqual(
        DAYS.map((day) => world.read(`out/week/${day}.md`)),
        DAYS.map(plan),
      );
    },
  },
  {
    name: "read two files, edit both",
    say: "Make version 1.3.0 of the package in in/: the version in package.json, and a heading for it in CHANGELOG.md below Unreleased.",
    files: {
      "in/package.json": '{\n  "name": "orders",\n  "version": "1.2.3",\n  "type": "module"\n}\n',
      "in/CHANGELOG.md": "# Changes\n\n## Unreleased\n\n- Faster start.\n\n## 1.2.3\n\n- First.\n",
    },
    *direct() {
      yield [call("files.read_multiple_files", { paths: VERSION_EDITS.map(({ path }) => path) })];
      const edited = yield VERSION_EDITS.map((edit) => call("files.edit_file", edit));
      return `${edited.filter(({ isError }) => !isError).length} files are edited.`;
    },
    needs: {
      "read several files at once": "files.read_multiple_files",
      "edit a text file": "files.edit_file",
    },
    *composite() {
      const paths = VERSION_EDITS.map(({ path }) => path);
      yield [query({ op: "files.read_multiple_files", params: { paths } })];
      const answer = yield* ask(execute(...VERSION_EDITS.map((params) => ({ op: "files.edit_file", params }))));
      return `${resultOf(answer).succeeded} files are edited.`;
    },
    check({ world }) {
      equal(JSON.parse(world.read("in/package.json")).version, "1.3.0");
      match(world.read("in/CHANGELOG.md"), /## Unreleased\n\n## 1\.3\.0\n\n- Faster/);
    },
  },
];
