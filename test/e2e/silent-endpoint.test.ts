// An endpoint that accepts requests and never answers.
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { startServer } from "../servers/start.js";
import { Place } from "./command.js";

// Node 20 drops an AbortSignal.timeout that only an AbortSignal.any refers to as soon as garbage is collected, and then
// waits forever.
const COLLECTING = `
import v8 from "node:v8";
import vm from "node:vm";
v8.setFlagsFromString("--expose-gc");
setInterval(vm.runInNewContext("gc"), 50).unref();
`;

it("is abandoned when asked for its models, whatever is collected meanwhile", async () => {
  using place = new Place();
  await using silent = await startServer("silent");
  const collecting = place.write("collecting.mjs", COLLECTING);
  const { code, stderr } = await place.runProcess(["ask", "--provider", "vllm", "--endpoint", silent.url, "hello"], {
    env: { NODE_OPTIONS: `--import=${pathToFileURL(collecting).href}` },
  });
  expect(stderr).toContain("Which model of vllm?");
  expect(code).toBe(2);
});
