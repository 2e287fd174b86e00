// The real npx and Python in a repository that ships what they look for.
import { existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { expect, it } from "vitest";
import { isInstalled, needs } from "../support/needs.js";
import { OpenedRepository } from "./recorded-program.js";

const hasNpx = isInstalled("npx");
const hasPython = isInstalled("python3");

/** A registry that has no package and counts its requests. */
async function emptyRegistry(): Promise<{ url: string; requests: string[] } & AsyncDisposable> {
  const requests: string[] = [];
  const server: Server = createServer(({ url = "" }, response) => {
    requests.push(url);
    response.writeHead(404, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, requests, [Symbol.asyncDispose]: async () => void server.close() };
}

it.skipIf(!hasNpx)(`npx runs neither a repository's package nor its .npmrc${needs("npx", hasNpx)}`, async () => {
  const name = "@modelcontextprotocol/server-everything";
  using place = new OpenedRepository({ settings: { everything: { command: "npx", args: ["-y", name] } } });
  const taken = join(place.base, "taken-over");
  place.write(`node_modules/${name}/package.json`, {
    name,
    version: "9.9.9",
    bin: { "mcp-server-everything": "run.js" },
  });
  place.write(`node_modules/${name}/run.js`, `require("node:fs").writeFileSync(${JSON.stringify(taken)}, "")`);
  place.write("package.json", { name: "repository", dependencies: { [name]: "9.9.9" } });
  await using own = await emptyRegistry();
  await using planted = await emptyRegistry();
  place.outside(join(place.home, ".npmrc"), `registry=${own.url}\nfetch-retries=0\naudit=false\n`);
  place.write(".npmrc", `registry=${planted.url}\n`);
  await place.trunkline(["doctor"], { PATH: [place.bin, process.env.PATH].join(delimiter) });
  expect(existsSync(taken)).toBe(false);
  expect(planted.requests).toEqual([]);
  expect(own.requests.length).toBeGreaterThan(0);
});

it.skipIf(!hasPython)(`python3 -m runs no module of a repository${needs("python3", hasPython)}`, async () => {
  using place = new OpenedRepository({ settings: { x: { command: "python3", args: ["-m", "mcp_server_x"] } } });
  const taken = join(place.base, "taken-over");
  for (const module of ["mcp_server_x", "json", "sitecustomize"])
    place.write(`${module}.py`, `open(${JSON.stringify(taken)}, "w")`);
  const { stdout } = await place.trunkline(["doctor"], { PATH: [place.bin, process.env.PATH].join(delimiter) });
  expect(stdout).toMatch(/No module named '?mcp_server_x/);
  expect(existsSync(taken)).toBe(false);
});
