import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { InputRequest } from "../../client/src/index.js";
import { forgetInputs } from "../src/inputs.js";
import { Place, said, server } from "./place.js";

const content = {
  inputs: [
    { type: "promptString", id: "key", description: "The key", password: true },
    { type: "pickString", id: "zone", options: ["eu", { label: "America", value: "us" }], default: "eu" },
  ],
  servers: {
    a: { type: "stdio", command: "c", args: ["${input:zone}"], env: { KEY: "${input:key}" } },
    b: { type: "http", url: "https://x.example", headers: { K: "${input:key}" } },
    off: { type: "stdio", command: "${input:never}", disabled: true },
    plain: { type: "stdio", command: "c" },
  },
};

describe("inputs", () => {
  it("are asked for once per id, as described in the file", async () => {
    using place = new Place();
    const mcpPath = place.write("m.json", content);
    const asked: InputRequest[] = [];
    const prompt = async (request: InputRequest) => {
      asked.push(request);
      return request.id === "key" ? "${env:KEY} is kept as it is" : "us";
    };
    const config = await place.load({ mcpPath, prompt, env: { KEY: "no" } });
    expect(asked).toEqual([
      {
        id: "zone",
        default: "eu",
        options: [
          { value: "eu", label: "eu" },
          { value: "us", label: "America" },
        ],
        server: "a",
        file: mcpPath,
      },
      { id: "key", description: "The key", password: true, server: "a", file: mcpPath },
    ]);
    expect(server(config, "a")).toMatchObject({ args: ["us"], env: { KEY: "${env:KEY} is kept as it is" } });
    expect(server(config, "b")).toMatchObject({ headers: { K: "${env:KEY} is kept as it is" } });
    expect(config.secrets).toContain("${env:KEY} is kept as it is");
    expect(said(config)).toEqual([]);
  });

  it("are saved for that file only, readable only by the user, until they are forgotten", async () => {
    using place = new Place();
    const home = join(place.root, "new", "home");
    const mcpPath = place.write("m.json", content);
    const load = (path: string, answer?: string) =>
      place.load({ mcpPath: path, home, prompt: answer === undefined ? undefined : async () => answer });
    await load(mcpPath, "first");
    const kept = join(home, "inputs.json");
    if (process.platform !== "win32") {
      expect(statSync(kept).mode & 0o777).toBe(0o600);
      expect(statSync(home).mode & 0o777).toBe(0o700);
    }
    expect(JSON.parse(readFileSync(kept, "utf8"))).toEqual({
      version: 1,
      inputs: { [mcpPath]: { zone: "first", key: "first" } },
    });
    expect(server(await load(mcpPath, "second"), "b")).toMatchObject({ headers: { K: "first" } });
    expect(server(await load(mcpPath), "b")).toMatchObject({ headers: { K: "first" } });
    const other = place.write("other.json", content);
    expect(server(await load(other, "third"), "b")).toMatchObject({ headers: { K: "third" } });
    expect(await forgetInputs(home, mcpPath)).toBe(true);
    expect(await forgetInputs(home, mcpPath)).toBe(false);
    expect(server(await load(mcpPath), "b").unusable).toBeDefined();
    expect(server(await load(other), "b")).toMatchObject({ headers: { K: "third" } });
  });

  it("make only their own entry unusable if there is no one to ask", async () => {
    using place = new Place();
    const config = await place.load({ mcpPath: place.write("m.json", content) });
    const { unusable } = server(config, "a");
    expect(unusable?.message).toContain('Server "a" needs the input "key"');
    expect(unusable?.message).toContain("no terminal to ask on");
    expect(unusable?.hint).toContain("in a terminal");
    expect(server(config, "plain").unusable).toBeUndefined();
    expect(server(config, "off").unusable).toBeUndefined();
    expect(said(config).filter((line) => line.startsWith("warning"))).toEqual([
      expect.stringContaining('a | Server "a": the input "key"'),
      expect.stringContaining('b | Server "b": the input "key"'),
    ]);
  });

  it("fall back to their default if there is no one to ask", async () => {
    using place = new Place();
    const { a, ...rest } = content.servers;
    const mcpPath = place.write("m.json", { ...content, servers: { ...rest, a: { ...a, env: {} } } });
    const config = await place.load({ mcpPath });
    expect(server(config, "a")).toMatchObject({ args: ["eu"] });
    expect(server(config, "a").unusable).toBeUndefined();
  });

  it("make an entry unusable if there is no answer, and are asked for again next time", async () => {
    using place = new Place();
    const mcpPath = place.write("m.json", content);
    const config = await place.load({ mcpPath, prompt: async () => undefined });
    expect(server(config, "a").unusable?.message).toContain("no answer");
    expect(server(await place.load({ mcpPath, prompt: async () => "eu" }), "a").unusable).toBeUndefined();
  });

  it("are neither asked for nor filled in from saved answers until the project is approved", async () => {
    using place = new Place({ ".trunkline/mcp.json": content });
    await place.load({ prompt: async () => "s3cret" });
    const config = await place.load({ trustAll: false, prompt: () => expect.unreachable("nobody is to be asked") });
    expect(server(config, "a")).toMatchObject({ trusted: false, env: { KEY: "${input:key}" } });
    expect(server(config, "a").unusable?.hint).toContain("trunkline trust");
  });

  it("are not asked for if the entry is shadowed", async () => {
    using place = new Place({
      ".trunkline/mcp.json": { servers: { a: { type: "stdio", command: "c" } } },
      "home/settings.json": { servers: { a: { type: "stdio", command: "${input:x}" } } },
    });
    const config = await place.load({ prompt: () => expect.unreachable("nobody is to be asked") });
    expect(server(config, "a")).toMatchObject({ command: "c" });
  });

  it("are asked for even without a description, with a warning", async () => {
    using place = new Place();
    const mcpPath = place.write("m.json", { servers: { a: { type: "stdio", command: "${input:x}" } } });
    const config = await place.load({ mcpPath, prompt: async () => "c" });
    expect(server(config, "a")).toMatchObject({ command: "c" });
    expect(said(config)).toEqual([expect.stringContaining('"x" is not defined')]);
  });

  it.each([
    ["{"],
    ["[]"],
    ['{"version":2,"inputs":{}}'],
    ['{"version":1}'],
    ['{"version":1,"inputs":{"m.json":{"zone":1}}}'],
  ])("are asked for again if the file of saved answers is %s", async (damaged) => {
    using place = new Place();
    const mcpPath = place.write("m.json", content);
    writeFileSync(join(place.home, "inputs.json"), damaged);
    const config = await place.load({ mcpPath, prompt: async () => "eu" });
    expect(server(config, "a").unusable).toBeUndefined();
    expect(readFileSync(join(place.home, "inputs.json"), "utf8")).toContain('"zone": "eu"');
  });

  it("are used even if they cannot be saved", async () => {
    using place = new Place({ file: "" });
    const mcpPath = place.write("m.json", content);
    const config = await place.load({ mcpPath, home: join(place.cwd, "file"), prompt: async () => "eu" });
    expect(server(config, "a")).toMatchObject({ args: ["eu"] });
    expect(said(config)[0]).toContain("could not be saved");
  });
});
