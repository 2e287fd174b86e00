// A custom agent: two sub-agents answer, a third judges. They share one budget.
//   npx trunkline run examples/own-agent/main.ts
import assert from "node:assert/strict";
import { Budget, startAgent } from "@trunkline/agent";
import { agent, model, registerAgent, type Tool } from "trunkline";

registerAgent({
  name: "panel",
  summary: "Two answers, and a judgement on them.",
  async run(request) {
    const budget = request.budget ?? new Budget(request.limits);
    const shared = { ...request, budget };
    const question = request.messages
      .flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? part.text : [])))
      .join("\n");
    const first = await startAgent(shared, { agent: "tools", prompt: `${question}\nAnswer as an optimist.` });
    const second = await startAgent(shared, { agent: "tools", prompt: `${question}\nAnswer as a sceptic.` });
    const judge = await startAgent(shared, {
      agent: "tools",
      prompt: `${question}\nWhich answer is better?\n1. ${first.text}\n2. ${second.text}`,
    });
    return { ...judge, turns: budget.turns };
  },
});

// A tool defined by the script. It is read-only, so it needs no approval.
const asked: string[] = [];
const forecast: Tool = {
  name: "forecast",
  title: "forecast",
  description: "The chance of rain for a day, in percent.",
  inputSchema: { type: "object", properties: { day: { type: "string" } }, required: ["day"] },
  readOnly: true,
  async call({ day }) {
    asked.push(String(day));
    return { text: "70" };
  },
};

// A scripted model, so that the example runs without one; leave `model` out to use yours.
const played = await model({
  provider: "echo",
  echo: {
    script: [
      { tool: "forecast", args: { day: "Sunday" } },
      { text: "It may stay dry." },
      { text: "It will rain: 70 %." },
      { text: "The second one: it gives a number." },
    ]
      .map((turn) => JSON.stringify(turn))
      .join("\n"),
  },
});

const { text, turns } = await agent("panel", "Will it rain on Sunday?", { tools: [forecast], model: played });
console.log(`${text} (${turns} turns)`);
assert.equal(text, "The second one: it gives a number.");
assert.deepEqual(asked, ["Sunday"]);
assert.equal(turns, 4);
console.log("done");
