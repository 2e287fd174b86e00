// Warnings about the configuration concern the servers that a command uses.
import { describe, expect, it } from "vitest";
import { Place } from "./command.js";
import { testServer } from "./server-entries.js";

/** A project with two working servers; one of them needs a variable that is not set. */
function twoServers(): Place {
  const unset = { ...testServer("hello"), env: { TOKEN: "${UNSET_TOKEN}" } };
  const off = { ...testServer("hello"), env: { TOKEN: "${UNSET_OFF}" }, disabled: true };
  return new Place(
    {
      ".trunkline/mcp.json": { mcpServers: { library: testServer("library"), unset, off } },
      "turns.jsonl": '{"text": "Done."}\n',
    },
    { TRUNKLINE_TRUST: "all" },
  );
}

const ask = ["--provider", "echo", "--script", "turns.jsonl", "hello"];

describe("a warning about an unset variable", () => {
  it.each([
    [["call", "library.log", "level=info", "message=hello"]],
    [["tools", "library.*"]],
    [["tools", "library.log"]],
    [["resources", "list", "library"]],
    [["resources", "list", "library", "--templates"]],
    [["resources", "read", "library", "test://nothing"]],
    [["prompts", "list", "library"]],
    [["prompts", "get", "library.nothing"]],
    [["ask", "--tool", "library.*", ...ask]],
    [["agent", "--tool", "library.log", ...ask]],
    [["query", "search", "query=x"]],
    [["query", "library.log"]],
    [["execute", "library.log", "level=info", "message=hello"]],
    [["store", "status"]],
    [["auth", "status"]],
    [["stats"]],
    [["log"]],
    [["servers", "disable", "library"]],
  ])("is not printed by %j, which does not use that server", async (args) => {
    using place = twoServers();
    const { stdout, stderr } = await place.run(args);
    expect(stdout + stderr).not.toContain("UNSET_");
  });

  it.each([
    [["call", "unset.hello"]],
    [["tools"]],
    [["tools", "unset.*"]],
    [["tools", "--json", "hello"]],
    [["resources"]],
    [["resources", "list", "unset"]],
    [["prompts"]],
    [["servers"]],
    [["doctor"]],
    [["ask", "--tool", "*", ...ask]],
    [["tools", "unset.hello"]],
  ])("is printed by %j, which uses it", async (args) => {
    using place = twoServers();
    const { stdout, stderr } = await place.run(args);
    expect(stdout + stderr).toContain("UNSET_TOKEN");
  });

  it.each([[["tools"]], [["resources"]], [["call", "unset.hello"]]])(
    "is not printed by %j for a disabled server",
    async (args) => {
      using place = twoServers();
      const { stdout, stderr } = await place.run(args);
      expect(stdout + stderr).not.toContain("UNSET_OFF");
    },
  );
});
