// An endpoint that accepts requests and never answers.
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { startServer } from "../servers/start.js";
import { Place } from "./command.js";

// In Node 20, if only an AbortSignal.any refers to an AbortSignal.timeout, garbage collection drops the timeout, and
// the request waits forever.
const COLLECTING = `
import v8 from "node:v8";
import vm from "node:vm";
v8.setFlagsFromString("--expose-gc");
setInterval(vm.runInNewContext("gc"), 50).unref();
`;

it("listing models gives up on a silent endpoint, even if garbage is collected meanwhile", async () => {
  using place = new Place();
  await using silent = await startServer("silent");
  const collecting = place.write("collecting.mjs", COLLECTING);
  const { code, stderr } = await place.runProcess(["ask", "--provider", "vllm", "--endpoint", silent.url, "hello"], {
    env: { NODE_OPTIONS: `--import=${pathToFileURL(collecting).href}` },
  });
  expect(stderr).toContain("No model of vllm is chosen");
  expect(code).toBe(2);
});
