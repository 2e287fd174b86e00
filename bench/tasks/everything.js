// Tasks for server-everything: small calls, chains, images, links, waiting.
import { match, ok } from "node:assert/strict";
import { ask, query, resultOf, resultsOf } from "./composite.js";
import { call } from "./direct.js";

const CITIES = ["New York", "Chicago", "Los Angeles"];

/** @param {string} text */
function lastNumber(text) {
  return Number(/(-?[\d.]+?)\.?$/.exec(text)?.[1]);
}

/** @param {readonly { temperature: number }[]} weather */
function warmest(weather) {
  const temperatures = weather.map(({ temperature }) => temperature);
  const most = Math.max(...temperatures);
  return `${CITIES[temperatures.indexOf(most)]} is the warmest with ${most} degrees.`;
}

/** @param {string} text @param {readonly { mediaType: string }[]} images */
function describePicture(text, images) {
  return `It is the ${/the (\w+ logo)/.exec(text)?.[1]}, as ${images.map(({ mediaType }) => mediaType).join(" and ")}.`;
}

/** @param {string} text */
function linked(text) {
  return `The links lead to ${[...new Set(text.match(/demo:\/\/[\w/]+/g))].join(", ")}.`;
}

/** @type {import("./tasks.js").Task[]} */
export const EVERYTHING = [
  {
    name: "one small call",
    say: "What is 1234.5 + 8765.5? Use the calculator.",
    *direct() {
      return (yield* ask(call("everything.get-sum", { a: 1234.5, b: 8765.5 }))).text;
    },
    needs: { "add two numbers": "everything.get-sum" },
    *composite() {
      const sum = yield* ask(query({ op: "everything.get-sum", params: { a: 1234.5, b: 8765.5 } }));
      return resultOf(sum).text;
    },
    check: ({ answer }) => match(answer, /\b10000\b/),
  },
  {
    name: "a chain of results that are sentences",
    say: "Add 17 and 25 with the calculator, add 100 to that, and add the result to itself. What comes out?",
    *direct() {
      const first = lastNumber((yield* ask(call("everything.get-sum", { a: 17, b: 25 }))).text);
      const second = lastNumber((yield* ask(call("everything.get-sum", { a: first, b: 100 }))).text);
      return (yield* ask(call("everything.get-sum", { a: second, b: second }))).text;
    },
    needs: { "add two numbers": "everything.get-sum" },
    *composite() {
      /** @param {number} a @param {number} b */
      const add = (a, b) => query({ op: "everything.get-sum", params: { a, b } });
      const first = lastNumber(resultOf(yield* ask(add(17, 25))).text);
      const second = lastNumber(resultOf(yield* ask(add(first, 100))).text);
      return resultOf(yield* ask(add(second, second))).text;
    },
    check: ({ answer }) => match(answer, /\b284\b/),
  },
  {
    name: "three structured results",
    say: "Which of New York, Chicago and Los Angeles is the warmest now?",
    *direct() {
      const results = yield CITIES.map((location) => call("everything.get-structured-content", { location }));
      return warmest(results.map(({ text }) => JSON.parse(text)));
    },
    needs: { "weather of a city": "everything.get-structured-content" },
    *composite() {
      const steps = CITIES.map((location) => ({ op: "everything.get-structured-content", params: { location } }));
      return warmest(resultsOf(yield* ask(query(...steps))));
    },
    check: ({ answer }) => match(answer, /^(New York|Chicago|Los Angeles) is the warmest with \d+ degrees\.$/),
  },
  {
    name: "a picture",
    say: "Get the tiny image from the test server. What does it show, and in which format is it?",
    *direct() {
      const { text, images } = yield* ask(call("everything.get-tiny-image"));
      return describePicture(text, images);
    },
    needs: { "get a tiny image": "everything.get-tiny-image" },
    *composite() {
      const { text, images } = yield* ask(query({ op: "everything.get-tiny-image" }));
      return describePicture(text, images);
    },
    check: ({ answer }) => match(answer, /MCP logo, as image\/png/),
  },
  {
    name: "links and an embedded resource",
    say: "Ask the test server for 6 resource links and for text resource 7. Which URIs are there?",
    *direct() {
      const results = yield [
        call("everything.get-resource-links", { count: 6 }),
        call("everything.get-resource-reference", { resourceType: "Text", resourceId: 7 }),
      ];
      return linked(results.map(({ text }) => text).join("\n"));
    },
    needs: {
      "list links to resources": "everything.get-resource-links",
      "reference to a resource": "everything.get-resource-reference",
    },
    *composite() {
      const { text } = yield* ask(
        query(
          { op: "everything.get-resource-links", params: { count: 6 } },
          { op: "everything.get-resource-reference", params: { resourceType: "Text", resourceId: 7 } },
        ),
      );
      return linked(text);
    },
    check({ answer }) {
      const uris = answer.match(/demo:\/\/[\w/]+/g) ?? [];
      ok(uris.length === 7 && uris.some((uri) => uri.endsWith("text/7")), answer);
    },
  },
  {
    name: "a long-running call",
    say: "Run the long-running operation for 1 second in 4 steps, and say when it is done.",
    *direct() {
      return (yield* ask(call("everything.trigger-long-running-operation", { duration: 1, steps: 4 }))).text;
    },
    needs: { "run a long operation": "everything.trigger-long-running-operation" },
    *composite() {
      const run = { op: "everything.trigger-long-running-operation", params: { duration: 1, steps: 4 } };
      return resultOf(yield* ask(query(run))).text;
    },
    check: ({ answer }) => match(answer, /completed.*4/i),
  },
];
