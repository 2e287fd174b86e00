// `trunkline console`, with the broker and without.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { outcomeOf, Place, seen } from "./command.js";

const LINK = /^http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]{43}&workspace=[0-9a-f]{12}\n$/;

async function exchange(link: string): Promise<Response> {
  const { origin, hash } = new URL(link);
  return await fetch(`${origin}/api/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code: new URLSearchParams(hash.slice(1)).get("code") }),
  });
}

async function overview(link: string): Promise<Record<string, unknown>> {
  const { token } = (await (await exchange(link)).json()) as { token: string };
  const response = await fetch(`${new URL(link).origin}/api/overview`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: "{}",
  });
  return (await response.json()) as Record<string, unknown>;
}

describe("trunkline console", () => {
  it("starts a broker and prints a link that works once", async () => {
    using place = new Place({}, { TRUNKLINE_BROKER: "" });
    const { code, stdout, stderr } = await place.runProcess(["console", "--no-open"]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: "Open this link on this machine. It works once, within two minutes:\n",
    });
    expect(stdout).toMatch(LINK);
    expect((await exchange(stdout.trim())).status).toBe(200);
    expect((await exchange(stdout.trim())).status).toBe(401);
    expect((await place.runProcess(["broker"])).stdout).toContain("trunkline broker ");
  });

  it("uses the console that is open, and shows each folder it was called in", async () => {
    using place = new Place({ "other/x.txt": "" });
    const env = { TRUNKLINE_BROKER: "" };
    const first = (await place.runProcess(["console", "--no-open"], { env })).stdout.trim();
    const cwd = `${place.cwd}/other`;
    const second = (await place.runProcess(["console", "--json"], { env, cwd })).stdout;
    const { url } = JSON.parse(second) as { url: string };
    expect(new URL(url).port).toBe(new URL(first).port);
    const shown = await overview(url);
    expect(shown).toMatchObject({ host: "broker", questions: 0, saved: { processes: 0 } });
    expect(shown.workspaces).toEqual([
      expect.objectContaining({ folder: place.cwd, clients: 0 }),
      expect.objectContaining({ folder: cwd, clients: 0 }),
    ]);
  });

  it("says where to open the link if there is no display", async () => {
    using place = new Place({}, { TRUNKLINE_BROKER: "" });
    const { stdout, stderr } = await place.runProcess(["console"]);
    expect(stderr).toBe(
      "No browser can be opened from here.\nOpen this link on this machine. It works once, within two minutes:\n",
    );
    expect(stdout).toMatch(LINK);
  });

  it("serves from its own process without the broker, until Ctrl-C", async () => {
    using place = new Place();
    const child = place.startProcess(["console", "--no-open"], { env: { TRUNKLINE_BROKER: "off" } });
    const outcome = outcomeOf(child);
    await seen(child.stderr, /Ctrl-C stops it/);
    child.kill("SIGINT");
    const { code, stdout } = await outcome;
    expect(code).toBe(130);
    expect(stdout).toMatch(LINK);
    await expect(exchange(stdout.trim())).rejects.toThrow("fetch failed");
  });

  it("says why if no broker can be started, and serves from its own process", async () => {
    using place = new Place({ taken: "" });
    const env = { TRUNKLINE_BROKER: "", TRUNKLINE_HOME: join(place.cwd, "taken", "home") };
    const child = place.startProcess(["console", "--no-open"], { env });
    const outcome = outcomeOf(child);
    await seen(child.stderr, /Ctrl-C stops it/);
    child.kill("SIGINT");
    const { stdout, stderr } = await outcome;
    expect(stderr).toContain("trunkline: working without the broker: ");
    expect(stdout).toMatch(LINK);
  });

  it("answers for its own workspace without the broker", async () => {
    using place = new Place();
    const child = place.startProcess(["console", "--json"], { env: { TRUNKLINE_BROKER: "off" } });
    const outcome = outcomeOf(child);
    const line = new Promise<string>((resolve) => child.stdout?.once("data", (chunk) => resolve(String(chunk))));
    const { url } = JSON.parse(await line) as { url: string };
    expect(await overview(url)).toMatchObject({ host: "process", workspaces: [{ folder: place.cwd }] });
    child.kill("SIGTERM");
    expect((await outcome).code).toBe(0);
  });
});
