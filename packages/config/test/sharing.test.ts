import { describe, expect, it } from "vitest";
import { keepsState, shareOf } from "../src/sharing.js";
import { loadText, said, server } from "./place.js";

describe("who shares a connection", () => {
  it.each([
    ["a local program", { command: "c" }, "workspace"],
    ["a remote server", { url: "https://x.example/mcp" }, "user"],
    ["a browser", { command: "npx", args: ["-y", "@playwright/mcp@latest"] }, "client"],
    ["a browser that is said to be shared", { command: "npx", args: ["@playwright/mcp"], share: "user" }, "user"],
    ["an entry for one client", { command: "c", share: "client" }, "client"],
    ["a remote server for one workspace", { url: "https://x.example/mcp", share: "workspace" }, "workspace"],
  ] as const)("is decided by the entry, or else by its program and transport: %s", async (_, entry, share) => {
    const config = await loadText({ mcpServers: { s: entry } });
    expect(shareOf(server(config, "s"))).toBe(share);
  });

  it("must be one of three words", async () => {
    const config = await loadText({ mcpServers: { s: { command: "c", share: "everyone" } } });
    expect(config.servers).toEqual([]);
    expect(config.rejected.map(({ name }) => name)).toEqual(["s"]);
    expect(said(config)).toEqual([
      'warning | s | share | Server "s", field "share": "everyone" is not known; use "workspace", "user" or "client".',
    ]);
  });

  it("is shown before a project's file is approved", async () => {
    const config = await loadText({ mcpServers: { s: { command: "c", share: "user" } } });
    expect(config.files[0]?.wouldRun).toEqual([{ name: "s", what: "c (share: user)" }]);
  });
});

describe("a program that keeps a state per client", () => {
  it.each([
    ["npx", ["-y", "@playwright/mcp@latest"]],
    ["npx", ["-y", "-p", "@playwright/mcp", "mcp-server-playwright"]],
    ["npx", ["--package=puppeteer-mcp-server", "x"]],
    ["npx", ["chrome-devtools-mcp@0.6.0", "--headless"]],
    ["pnpm", ["dlx", "@modelcontextprotocol/server-puppeteer"]],
    ["node", ["/opt/x/node_modules/@playwright/mcp/cli.js"]],
    ["docker", ["run", "-i", "--rm", "-e", "TOKEN", "mcp/playwright"]],
    ["uvx", ["--from", "mcp-server-shell", "serve"]],
    ["python", ["-m", "mcp_debugger"]],
    ["/usr/local/bin/gdb-mcp", []],
    ["C:\\tools\\desktop-commander.exe", []],
    // Images.
    ["docker", ["run", "-i", "--rm", "--init", "--pull=always", "mcr.microsoft.com/playwright/mcp"]],
    ["podman", ["run", "--name", "x", "ghcr.io/a/chrome-devtools-mcp:1.2"]],
    ["docker", ["run", "-i", "mcp/sequentialthinking@sha256:12"]],
    // Other launchers.
    ["cmd", ["/c", "npx", "-y", "@playwright/mcp@latest"]],
    ["C:\\Windows\\System32\\cmd.exe", ["/d", "/s", "/c", "npx.cmd", "@browsermcp/mcp"]],
    ["bash", ["-lc", "FOO=1 npx -y @wonderwhy-er/desktop-commander@latest"]],
    ["wsl", ["npx", "-y", "tmux-mcp"]],
    ["env", ["A=b", "uvx", "mcp-shell-server"]],
    ["op", ["run", "--", "npx", "-y", "@playwright/mcp"]],
    ["npx", ["-y", "@smithery/cli@latest", "run", "@executeautomation/playwright-mcp-server", "--key", "k"]],
    ["uv", ["--directory", "/srv/x", "run", "mcp_shell_server"]],
    ["uvx", ["--from", "git+https://github.com/a/mcp-jupyter.git@main", "serve"]],
    ["uv", ["tool", "run", "browser-use[cli]", "--mcp"]],
    ["pipx", ["run", "mcp-python-interpreter"]],
    ["npx", ["-y", "github:a/ssh-mcp"]],
    ["ssh", ["build.example", "npx", "-y", "@playwright/mcp"]],
    // Other names.
    ["npx", ["@browserbasehq/mcp-server-browserbase"]],
    ["npx", ["-y", "@agent-infra/mcp-server-browser"]],
    ["npx", ["-y", "mcp-server-commands"]],
    ["npx", ["-y", "@modelcontextprotocol/server-sequential-thinking"]],
    ["npx", ["-y", "@e2b/mcp-server"]],
    ["uvx", ["mcp-pdb"]],
    ["uvx", ["wcgw"]],
    ["npx", ["-y", "appium-mcp"]],
    ["mcp-dap-server", []],
    ["npx", ["-y", "node-code-sandbox-mcp"]],
  ])("is recognised: %s %j", (command, args) => {
    expect(keepsState(command, args)).toBe(true);
  });

  it.each([
    ["npx", ["-y", "@modelcontextprotocol/server-filesystem", "/home/ada/playwright"]],
    ["node", ["/home/ada/playwright/server.js"]],
    ["docker", ["run", "-i", "-v", "/home/ada/playwright:/data", "mcp/fetch"]],
    ["github-mcp-server", ["stdio"]],
    ["uvx", ["mcp-server-git", "--repository", "puppeteer"]],
    ["adapter", []],
    ["bash", ["-c", "npx -y @modelcontextprotocol/server-github"]],
    ["bash", ["/srv/start.sh"]],
    ["cmd", ["/c", "npx", "-y", "@modelcontextprotocol/server-memory"]],
    ["powershell", ["-Command", "npx -y @upstash/context7-mcp"]],
    ["ssh", ["host", "mcp-server-git"]],
    ["npx", ["-y", "@angular/cli", "mcp"]],
    ["npx", ["-y", "@browserstack/mcp-server"]],
    ["npx", ["-y", "mcp-remote", "https://playwright.example/mcp"]],
    ["docker", ["run", "-i", "--name", "playwright", "ghcr.io/github/github-mcp-server"]],
    ["uv", ["--directory", "/home/ada/playwright", "run", "server.py"]],
    ["npx", ["-y", "@modelcontextprotocol/server-everything"]],
    ["python3", ["-m", "mcp_server_time"]],
  ])("is not confused with its arguments: %s %j", (command, args) => {
    expect(keepsState(command, args)).toBe(false);
  });
});

describe("idleStop", () => {
  it.each([
    [60, 60_000, 0],
    [0, 0, 0],
    [-1, undefined, 1],
    [1e12, 2_147_483_000, 1],
  ])("is a number of seconds: %j", async (idleStop, expected, remarks) => {
    const config = await loadText({ mcpServers: { s: { command: "c", idleStop } } });
    expect(server(config, "s").idleStopMs).toBe(expected);
    expect(config.diagnostics).toHaveLength(remarks);
  });
});
