// `servers search` and `servers add <registry name>`, against a registry that follows the published API.
import { describe, expect, it, onTestFinished } from "vitest";
import type { RegistryOptions } from "../servers/registry.js";
import { freePort } from "./command.js";
import { HASH, npmServer, published, RegistryPlace, remoteServer } from "./registry-place.js";
import { Terminal } from "./terminal.js";

const NAME = "io.github.ada/docs";
const SECRET = "s3cr3t-value-0815";

function openTerminal(...args: ConstructorParameters<typeof Terminal>): Terminal {
  const terminal = new Terminal(...args);
  onTestFinished(() => terminal.close());
  return terminal;
}

describe("servers search", () => {
  const servers = [
    npmServer(),
    published({
      name: "com.example/files",
      description: "Reads files",
      remotes: [{ type: "sse", url: "https://f.example/sse" }],
    }),
    published({ name: "com.example/old", description: "Old documents" }, { status: "deprecated" }),
    published({ name: "com.example/gone", description: "Gone documents" }, { status: "deleted" }),
    published({ version: "1.0.0" }, { isLatest: false }),
  ];

  it("shows name, version, description and how each server runs", async () => {
    using place = new RegistryPlace();
    await using _ = await place.open({ servers });
    const { code, stdout, stderr } = await place.command(["servers", "search", "documents"]);
    expect(code).toBe(0);
    expect(stdout).toContain("io.github.ada/docs  1.2.3  Searches documents");
    expect(stdout).toContain("npm @ada/docs-mcp@1.2.3");
    expect(stdout).toContain("(deprecated) Old documents");
    expect(stdout).not.toContain("gone");
    expect(stdout).not.toContain("1.0.0");
    expect(stderr).toContain("trunkline servers add <name>");
  });

  it("finds servers with all words, and asks for the latest versions only", async () => {
    using place = new RegistryPlace();
    await using registry = await place.open({ servers });
    const { stdout } = await place.command(["servers", "search", "EXAMPLE", "files", "--json"]);
    expect(JSON.parse(stdout)).toEqual([
      {
        name: "com.example/files",
        version: "1.2.3",
        description: "Reads files",
        status: "active",
        packages: [],
        remotes: [{ type: "sse", url: "https://f.example/sse" }],
      },
    ]);
    expect(registry.requests).toEqual(["/v0.1/servers?search=example&version=latest&limit=100"]);
  });

  it("follows cursors, up to the limit", async () => {
    using place = new RegistryPlace();
    const many = Array.from({ length: 7 }, (_, at) => published({ name: `com.example/s${at}` }));
    await using registry = await place.open({ servers: many, pageSize: 2 });
    const all = await place.command(["servers", "search", "documents", "--json"]);
    expect(JSON.parse(all.stdout)).toHaveLength(7);
    expect(registry.requests).toHaveLength(4);
    const some = await place.command(["servers", "search", "documents", "--limit", "3"]);
    expect(some.stdout.match(/com\.example/g)).toHaveLength(3);
    expect(some.stderr).toContain("There are more");
  });

  it("exits with 1 if nothing is found", async () => {
    using place = new RegistryPlace();
    await using _ = await place.open({ servers });
    expect(await place.command(["servers", "search", "nothing-like-it"])).toMatchObject({ code: 1, stdout: "" });
    expect(await place.command(["servers", "search", "nothing-like-it", "--json"])).toMatchObject({ stdout: "[]\n" });
  });

  it("says that the registry cannot be reached, and what works without it", async () => {
    using place = new RegistryPlace();
    const registry = `http://127.0.0.1:${await freePort()}`;
    const { code, stderr } = await place.command(["servers", "search", "x", "--registry", registry]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/Cannot reach the registry at 127\.0\.0\.1:\d+ \(ECONNREFUSED\)\./);
    expect(stderr).toContain("trunkline servers add <name> -- <command…>");
  });

  it("says the same if the connection breaks in the middle of an answer", async () => {
    using place = new RegistryPlace();
    const before: RegistryOptions["before"] = (_, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": 1_000 });
      response.write('{"servers": [', () => response.destroy());
      return true;
    };
    await using _ = await place.open({ servers, before });
    const { code, stderr } = await place.command(["servers", "search", "x"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^trunkline: Cannot reach the registry at 127\.0\.0\.1:\d+/);
  });

  it("uses the registry of the option, then of the environment, then of the user's settings", async () => {
    using place = new RegistryPlace();
    await using _ = await place.open({ servers });
    const search = (args: string[], env: Record<string, string>) =>
      place.command(["servers", "search", "files", ...args], { env });
    const nowhere = "http://127.0.0.1:1";
    expect((await search(["--registry", place.address], { TRUNKLINE_REGISTRY: nowhere })).code).toBe(0);
    place.write("../home/.trunkline/settings.json", { registry: nowhere });
    expect((await search([], {})).code).toBe(0);
    expect((await search([], { TRUNKLINE_REGISTRY: "" })).stderr).toContain("Cannot reach the registry at 127.0.0.1:1");
    expect(await search(["--registry", "registry.example"], {})).toMatchObject({ code: 2 });
  });
});

describe("servers add with a name of the registry", () => {
  it("shows what would run, asks, and pins the version and the hash", async () => {
    using place = new RegistryPlace();
    await using _ = await place.open({ servers: [npmServer()] });
    const terminal = openTerminal(place, ["servers", "add", NAME, "--user"], place.variables);
    await terminal.answer('Add "docs"? [y/N]', "y");
    const { code, stdout } = await terminal.end();
    expect(code).toBe(0);
    expect(stdout).toContain("runs:       npx -y @ada/docs-mcp@1.2.3\n");
    expect(stdout).toContain(`hash:       ${HASH}`);
    expect(stdout).toMatch(/Added "docs" in .*settings\.json\./);
    expect(place.entries.docs).toEqual({
      command: "npx",
      args: ["-y", "@ada/docs-mcp@1.2.3"],
      registry: { name: NAME, version: "1.2.3", url: `${place.address}/`, hash: HASH },
    });
    expect(place.npmCalls).toEqual([[place.home, "view", "--json", "@ada/docs-mcp@1.2.3", "dist.integrity"]]);
    const listed = await place.command(["servers", "list"]);
    expect(listed.stdout).toContain(`from the registry: ${NAME} 1.2.3`);
    expect(listed.stderr).toBe("");
  });

  it("writes nothing after a no, and nothing without a terminal and --yes", async () => {
    using place = new RegistryPlace();
    await using _ = await place.open({ servers: [npmServer()] });
    const terminal = openTerminal(place, ["servers", "add", NAME, "--user"], place.variables);
    await terminal.answer("[y/N]", "n");
    expect((await terminal.end()).code).toBe(0);
    const headless = await place.command(["servers", "add", NAME, "--user"]);
    expect(headless).toMatchObject({ code: 2 });
    expect(headless.stdout).toContain("npx -y @ada/docs-mcp@1.2.3");
    expect(headless.stderr).toContain("--yes");
    expect(place.entries).toEqual({});
  });

  it("asks for values, and puts secrets into the keychain", async () => {
    using place = new RegistryPlace();
    const server = npmServer({
      environmentVariables: [
        { name: "API_KEY", description: "Your key", isRequired: true, isSecret: true },
        { name: "LOG_LEVEL", default: "info", choices: ["debug", "info"] },
        { name: "REGION" },
      ],
      packageArguments: [
        { type: "named", name: "--port", format: "number", isRequired: true },
        { type: "positional", valueHint: "folder", format: "filepath", isRequired: true, isRepeated: true },
      ],
    });
    await using _ = await place.open({ servers: [server] });
    const terminal = openTerminal(place, ["servers", "add", NAME, "--user", "--as", "my-docs"], place.variables);
    await terminal.sees("API_KEY: Your key");
    await terminal.answer("API_KEY: ", SECRET);
    await terminal.answer("LOG_LEVEL [info]: ", "1");
    await terminal.answer("REGION (optional): ", "");
    await terminal.answer("port: ", "many");
    await terminal.sees("it must be a number");
    await terminal.answer("port: ", "8080");
    await terminal.answer("folder: ", "notes");
    await terminal.answer("folder: ", "/srv/wiki");
    await terminal.answer("folder: ", "");
    await terminal.answer('Add "my-docs"?', "y");
    const { code, stdout } = await terminal.end();
    expect(code).toBe(0);
    expect(stdout + terminal.screen).not.toContain(SECRET);
    expect(stdout).toContain("env:        API_KEY=${secret:my-docs.API_KEY}");
    expect(place.entries["my-docs"]).toMatchObject({
      args: ["-y", "@ada/docs-mcp@1.2.3", "--port=8080", `${place.cwd}/notes`, "/srv/wiki"],
      env: { API_KEY: "${secret:my-docs.API_KEY}", LOG_LEVEL: "debug" },
    });
    expect(place.keychain.kept).toEqual({ "my-docs.API_KEY": SECRET });
  });

  it("names every missing value without a terminal", async () => {
    using place = new RegistryPlace();
    const environmentVariables = [
      { name: "API_KEY", isRequired: true, isSecret: true },
      { name: "REGION", isRequired: true },
      { name: "LEVEL", isRequired: true, default: "info" },
    ];
    await using _ = await place.open({ servers: [npmServer({ environmentVariables })] });
    const { code, stderr } = await place.command(["servers", "add", NAME, "--user", "--yes"]);
    expect(code).toBe(2);
    expect(stderr).toContain("Values are missing: API_KEY, REGION.");
    expect(stderr).toContain(
      "--input API_KEY takes it from the environment, --input API_KEY=- from stdin; --input REGION=…",
    );
    expect(place.entries).toEqual({});
  });

  it("takes values by --input, and secrets from the environment, from stdin or by reference, never as an argument", async () => {
    using place = new RegistryPlace();
    const environmentVariables = [
      { name: "API_KEY", isRequired: true, isSecret: true },
      { name: "REGION", isRequired: true },
    ];
    await using _ = await place.open({ servers: [npmServer({ environmentVariables })] });
    const add = (name: string, key: string, options = {}) =>
      place.command(
        ["servers", "add", NAME, "--user", "--yes", "--as", name, "--input", "REGION=eu", "--input", key],
        options,
      );
    expect(await add("a", "API_KEY", { env: { API_KEY: SECRET } })).toMatchObject({ code: 0 });
    expect(await add("b", "API_KEY=-", { input: `${SECRET}\n` })).toMatchObject({ code: 0 });
    expect(await add("c", "API_KEY=${secret:MINE}")).toMatchObject({ code: 0 });
    const refused = await add("d", `API_KEY=${SECRET}`);
    expect(refused.code).toBe(2);
    expect(refused.stdout + refused.stderr).not.toContain(SECRET);
    expect(place.keychain.kept).toEqual({ "a.API_KEY": SECRET, "b.API_KEY": SECRET });
    expect(Object.values(place.entries).map(({ env }) => env)).toEqual([
      { API_KEY: "${secret:a.API_KEY}", REGION: "eu" },
      { API_KEY: "${secret:b.API_KEY}", REGION: "eu" },
      { API_KEY: "${secret:MINE}", REGION: "eu" },
    ]);
  });

  it("fills in the headers and the URL of a remote server", async () => {
    using place = new RegistryPlace();
    const server = remoteServer({
      url: "https://{tenant}.example.com/mcp",
      variables: { tenant: { description: "Your team", isRequired: true } },
      headers: [
        { name: "Authorization", value: "Bearer {token}", variables: { token: { isSecret: true, isRequired: true } } },
        { name: "X-Region", default: "eu" },
      ],
    });
    await using _ = await place.open({ servers: [server] });
    const { code, stdout } = await place.command(
      ["servers", "add", NAME, "--user", "--yes", "--input", "tenant=shop", "--input", "token=-"],
      { input: SECRET },
    );
    expect(code).toBe(0);
    expect(stdout).toContain("sends to:   https://shop.example.com/mcp");
    expect(stdout).toContain("header:     Authorization: Bearer ${secret:docs.token}");
    expect(place.entries.docs).toEqual({
      type: "http",
      url: "https://shop.example.com/mcp",
      headers: { Authorization: "Bearer ${secret:docs.token}", "X-Region": "eu" },
      registry: { name: NAME, version: "1.2.3", url: `${place.address}/` },
    });
  });

  it("prefers a package that this machine can run to a URL, and takes another way on request", async () => {
    using place = new RegistryPlace();
    const transport = { type: "stdio" };
    const image = `ghcr.io/ada/docs:1.2.3@sha256:${"ab".repeat(32)}`;
    const server = published({
      packages: [
        { registryType: "oci", identifier: image, transport, environmentVariables: [{ name: "MODE", value: "fast" }] },
        { registryType: "pypi", identifier: "docs-mcp", version: "1.2.3", transport },
        {
          registryType: "nuget",
          identifier: "Ada.Docs",
          version: "1.2.3",
          transport,
          packageArguments: [{ type: "positional", value: "start" }],
        },
      ],
      remotes: [
        { type: "sse", url: "https://docs.example.com/sse" },
        { type: "streamable-http", url: "https://docs.example.com/mcp" },
      ],
    });
    await using _ = await place.open({ servers: [server] });
    const add = async (...args: string[]) => {
      const outcome = await place.command(["servers", "add", NAME, "--user", "--yes", "--force", ...args]);
      expect(outcome.stderr).toBe("");
      const { command, args: words, url, registry } = place.entries.docs ?? {};
      return { command, words, url, hash: (registry as { hash?: string }).hash };
    };
    expect(await add()).toMatchObject({ url: "https://docs.example.com/mcp" });
    place.install("docker");
    expect(await add()).toMatchObject({
      command: "docker",
      words: ["run", "-i", "--rm", "-e", "MODE", image],
      hash: `sha256:${"ab".repeat(32)}`,
    });
    place.install("uvx", "dnx");
    expect(await add()).toMatchObject({ command: "uvx", words: ["docs-mcp@1.2.3"] });
    expect(await add("--package", "nuget")).toMatchObject({ words: ["Ada.Docs@1.2.3", "--yes", "--", "start"] });
    expect(await add("--remote")).toMatchObject({ url: "https://docs.example.com/mcp" });
  });

  it("names the program that is missing", async () => {
    using place = new RegistryPlace();
    const server = npmServer({ registryType: "pypi", identifier: "docs-mcp" });
    await using _ = await place.open({ servers: [server] });
    const { code, stderr } = await place.command(["servers", "add", NAME, "--yes"]);
    expect(code).toBe(1);
    expect(stderr).toContain(`"${NAME}" needs uvx, which is not installed.`);
  });

  it("takes the version that was asked for, and says if there is none", async () => {
    using place = new RegistryPlace();
    const old = npmServer({ version: "1.0.0" }, { version: "1.0.0" });
    await using _ = await place.open({ servers: [npmServer(), { ...old, official: { isLatest: false } }] });
    await place.command(["servers", "add", NAME, "--user", "--yes", "--version", "1.0.0"]);
    expect(place.entries.docs).toMatchObject({ args: ["-y", "@ada/docs-mcp@1.0.0"], registry: { version: "1.0.0" } });
    const missing = await place.command(["servers", "add", NAME, "--yes", "--as", "x", "--version", "9.9.9"]);
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain(`does not have version 9.9.9 of "${NAME}"`);
    expect((await place.command(["servers", "add", "com.example/none", "--yes"])).stderr).toContain(
      "servers search none",
    );
  });

  it("says why a deprecated server is deprecated", async () => {
    using place = new RegistryPlace();
    const official = { status: "deprecated" as const, statusMessage: "Use docs2" };
    await using _ = await place.open({ servers: [{ ...npmServer(), official }] });
    const { stdout } = await place.command(["servers", "add", NAME, "--user", "--yes"]);
    expect(stdout).toContain("deprecated: Use docs2");
  });

  it("works without a hash if npm does not report one", async () => {
    using place = new RegistryPlace();
    await using _ = await place.open({ servers: [npmServer()] });
    place.install("npm");
    const { code, stderr } = await place.command(["servers", "add", NAME, "--user", "--yes"]);
    expect(code).toBe(0);
    expect(stderr).toContain("only its version is pinned");
  });

  it("does not replace a server without --force, nor another server's secret", async () => {
    using place = new RegistryPlace();
    const environmentVariables = [{ name: "KEY", isSecret: true, isRequired: true }];
    await using _ = await place.open({ servers: [npmServer({ environmentVariables })] });
    const add = (...args: string[]) =>
      place.command(["servers", "add", NAME, "--user", "--yes", "--input", "KEY=-", ...args], { input: SECRET });
    await add();
    expect((await add()).stderr).toContain("--as");
    expect((await add("--force")).stdout).toContain('Replaced "docs"');
    expect(place.keychain.kept).toEqual({ "docs.KEY": SECRET, "docs.KEY-2": SECRET });
  });

  it("prints one document with --json", async () => {
    using place = new RegistryPlace();
    await using _ = await place.open({ servers: [npmServer()] });
    const { stdout } = await place.command(["servers", "add", NAME, "--user", "--yes", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      name: "docs",
      added: true,
      replaced: false,
      registry: { name: NAME, version: "1.2.3", hash: HASH },
      entry: { command: "npx", args: ["-y", "@ada/docs-mcp@1.2.3"] },
    });
  });

  it("tells a registry's name by its slash, and rejects options that do not fit", async () => {
    using place = new RegistryPlace();
    const usage = async (...args: string[]) => {
      const { code, stderr } = await place.command(["servers", "add", ...args]);
      expect(code).toBe(2);
      return stderr;
    };
    expect(await usage(NAME, "https://x.example/mcp")).toContain("is a registry name");
    expect(await usage(NAME, "--env", "A=b")).toContain("is a registry name");
    expect(await usage("docs", "https://x.example/mcp", "--as", "x")).toContain("--as only works with a registry name");
    expect(await usage("foo", "npx", "--yes", "bar")).toContain("trunkline servers add foo -- <command…>");
    expect(await usage("a/b/c")).toContain("is not a valid registry name");
    expect(await usage(NAME, "--as", "a b")).toContain("not a valid server name");
  });
});
