import { join, sep } from "node:path";
import { describe, expect, it } from "vitest";
import { launchCommand, startsTrunkline } from "../src/install/launch-command.js";

describe("an entry in another program's config", () => {
  it.each([
    [{ command: "trunkline", args: ["serve"] }],
    [{ command: "/usr/bin/node", args: ["/opt/trunkline/bin/trunkline.cjs", "serve", "--watch", "."] }],
    [{ command: "npx", args: ["-y", "trunkline", "serve"] }],
    [{ command: "npx", args: ["-y", "trunkline@1.2.3", "serve"] }],
    [{ command: "C:\\Users\\ada\\AppData\\Roaming\\npm\\trunkline.cmd", args: ["serve"] }],
  ])("%j is ours", (entry) => {
    expect(startsTrunkline(entry)).toBe(true);
  });

  it.each([
    [undefined],
    ["trunkline serve"],
    [{ command: "trunkline" }],
    [{ command: "trunkline", args: ["doctor"] }],
    [{ command: "trunkline-railways", args: ["serve"] }],
    [{ command: "railways", args: ["--name", "trunkline"] }],
    [{ type: "http", url: "http://127.0.0.1:7411/mcp" }],
  ])("%j is not", (entry) => {
    expect(startsTrunkline(entry)).toBe(false);
  });
});

describe("the command that starts this installation", () => {
  it.each([
    ["linux", true],
    ["linux", false],
    ["win32", true],
  ] as const)("is Node and the script if trunkline is not on the PATH (%s, %s)", async (platform, inShell) => {
    const { command, args } = await launchCommand(["serve"], {
      env: { PATH: "/nowhere" },
      platform,
      inShell,
      version: "1.2.3",
    });
    expect(command).toBe(process.execPath);
    expect(args).toEqual([expect.stringMatching(/trunkline\.cjs$/), "serve"]);
    expect(startsTrunkline({ command, args })).toBe(true);
  });

  it("is npx with the exact version if npx installed it", async () => {
    const script = join(
      sep,
      "home",
      "ada",
      ".npm",
      "_npx",
      "0123456789abcdef",
      "node_modules",
      "trunkline",
      "bin",
      "trunkline.cjs",
    );
    const place = { env: { PATH: "/nowhere" }, platform: "linux", inShell: true, version: "1.2.3", script } as const;
    expect(await launchCommand(["serve"], place)).toEqual({ command: "npx", args: ["-y", "trunkline@1.2.3", "serve"] });
    expect(await launchCommand(["serve"], { ...place, version: "2.0.0-beta.1" })).toMatchObject({
      args: ["-y", "trunkline@2.0.0-beta.1", "serve"],
    });
  });
});
