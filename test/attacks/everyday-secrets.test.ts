// Everyday use asks nothing and hides nothing that a user needs: ordinary entries stay readable, results are unchanged,
// and a local authorization server works without settings.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Place, root } from "../e2e/command.js";

const hello = { command: process.execPath, args: [join(root, "test", "servers", "hello.js")] };

describe("everyday use", () => {
  it("shows ordinary entries as they are written", async () => {
    const entries: Record<string, { command?: string; args?: string[]; url?: string }> = {
      filesystem: {
        command: "npx",
        args: ["-y", "@modelcontextprotocol/server-filesystem@2025.7.29", "/home/ann/code"],
      },
      git: { command: "uvx", args: ["mcp-server-git", "--repository", "/home/ann/code/some-project"] },
      github: {
        command: "docker",
        args: ["run", "-i", "--rm", "-e", "GITHUB_TOKEN", "ghcr.io/github/github-mcp-server:v0.5.0"],
      },
      serena: {
        command: "uvx",
        args: ["--from", "git+https://github.com/oraios/serena@7f1c6f4", "serena", "--port", "9121"],
      },
      linear: { url: "https://mcp.linear.app/sse" },
      local: { url: "http://127.0.0.1:3845/mcp?read_only=true" },
      python: { command: "python3", args: ["-m", "mcp_server_time", "--local-timezone=Europe/Berlin"] },
    };
    using place = new Place({ "mcp.json": { mcpServers: entries } });
    const { stdout } = await place.run(["servers", "list", "--mcp", "mcp.json"]);
    for (const { command, args = [], url } of Object.values(entries))
      expect(stdout).toContain(url ?? [command, ...args].join(" "));
    expect(stdout).not.toContain("<redacted>");
  });

  it("leaves the results of tools unchanged in a pipe", async () => {
    using place = new Place({ "mcp.json": { mcpServers: { hello } } });
    const text = "ghp_16C7e42F292c6912E7710c838347Ae178B4a 👩‍👩‍👧 שלום \u001b[1mbold\u001b[0m";
    const { stdout } = await place.run(["call", "hello.repeat", `text=${text}`, "count=1", "--mcp", "mcp.json"]);
    expect(stdout).toBe(`${text}\n`);
  });

  it("keeps letters, emoji and right-to-left words in JSON as they are", async () => {
    using place = new Place({ "mcp.json": { mcpServers: { hello } } });
    const text = "👩‍👩‍👧 שלום é 日本";
    const { stdout } = await place.run([
      "call",
      "hello.repeat",
      `text=${text}`,
      "count=1",
      "--raw",
      "--mcp",
      "mcp.json",
    ]);
    expect(stdout).toContain(text);
  });
});
