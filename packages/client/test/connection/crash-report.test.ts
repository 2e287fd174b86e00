import type { Logger } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { openHub } from "../../src/index.js";
import { configOf, stdio } from "../hub/fixtures.js";

/** A logger that keeps the errors it is given, as text. */
function keeping(errors: string[]): Logger {
  const keep = (_message: string, fields?: Readonly<Record<string, unknown>>) => {
    if (fields?.error instanceof Error) errors.push(fields.error.message);
  };
  const logger: Logger = { debug: keep, info: keep, warn: keep, error: keep, child: () => logger };
  return logger;
}

describe("the error of a call during which the server exits", () => {
  it("carries the exit code and the last lines on stderr, without secrets or escape codes", async () => {
    const logged: string[] = [];
    const config = {
      ...configOf(stdio("crashing", [], { env: { API_KEY: "s3cret-of-crashing" } })),
      secrets: ["s3cret-of-crashing"],
    };
    await using hub = await openHub(config, { logger: keeping(logged) });
    const stderr = [
      ...Array.from({ length: 50 }, (_, at) => `line ${at}`),
      "FATAL: cannot open \u001b[31mdata.db\u001b[0m",
      `with key ${config.secrets[0]}`,
      "giving up",
    ].join("\n");
    const lines = [
      "line 49",
      "FATAL: cannot open \\u001b[31mdata.db\\u001b[0m",
      "with key <redacted>",
      "giving up",
      "Error: crashing in mid-call with exit code 7",
    ];
    const error = await hub.call("crashing.crash", { code: 7, stderr }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: "SERVER_EXITED",
      message: `tools/call on "crashing" failed: the server exited (exit code 7). Its last lines on stderr:\n${lines
        .map((line) => `  ${line}`)
        .join("\n")}`,
      hint: "It may or may not have taken effect.",
      data: { exitCode: 7, signal: null, stderr: lines },
    });
    const lost = logged.filter((message) => message.startsWith('Server "crashing" exited (exit code 7).'));
    expect(lost).toHaveLength(1);
    expect(lost[0]).toContain("  giving up\n");
    expect(JSON.stringify(logged)).not.toContain("s3cret");
  });

  it("leaves out stack frames, and shortens long lines between words", async () => {
    await using hub = await openHub(configOf(stdio("crashing")));
    const stderr = [
      "TypeError: x is not a function",
      ...Array.from({ length: 10 }, (_, at) => `    at frame${at} (file.js:${at})`),
      `${"word ".repeat(300)}end`,
      "Node.js v20.20.0",
    ].join("\n");
    const error = await hub.call("crashing.crash", { stderr }).catch((reason: unknown) => reason);
    const { data, message } = error as { data: { stderr: string[] }; message: string };
    expect(data.stderr[0]).toBe("TypeError: x is not a function");
    expect(data.stderr[1]).toMatch(/^(word )+word…$/);
    expect(data.stderr).toHaveLength(3);
    expect(message.length).toBeLessThan(1_000);
  });

  it("says so if the server wrote nothing, and names the signal", async () => {
    await using hub = await openHub(configOf(stdio("slow")));
    const call = hub.call("slow.wait", { ms: 600_000, progress_every_ms: 5 }, { onProgress: () => kill() });
    const pid = hub.status()[0]?.pid ?? 0;
    const kill = () => void process.kill(pid, "SIGKILL");
    await expect(call).rejects.toMatchObject({
      code: "SERVER_EXITED",
      message: 'tools/call on "slow" failed: the server exited (signal SIGKILL). It wrote nothing to stderr.',
      data: { exitCode: null, signal: "SIGKILL", stderr: [] },
    });
  });

  it("is the same for all calls in flight", async () => {
    await using hub = await openHub(configOf(stdio("crashing")));
    const outcomes = await Promise.allSettled([
      hub.call("crashing.crash", { code: 4, stderr: "last words" }),
      hub.call("crashing.crash", { code: 5 }),
    ]);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({
        status: "rejected",
        reason: { code: "SERVER_EXITED", data: { exitCode: 4, stderr: expect.arrayContaining(["last words"]) } },
      });
    }
  });
});
