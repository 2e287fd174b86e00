import { describe, expect, it } from "vitest";
import { createChannel, openHub, type ServerLog } from "../../src/index.js";
import { configOf, stdio } from "../hub/fixtures.js";
import { Told } from "../hub/told.js";

describe("a call that is refused until a page has been visited", () => {
  const visitor = (seen: string[], answer: "accept" | "decline" = "accept") =>
    createChannel({
      elicit: async (elicitation) => {
        if (elicitation.mode !== "url") return { action: "cancel" };
        seen.push(elicitation.url);
        if (answer === "accept") await (await fetch(elicitation.url)).text();
        return { action: answer };
      },
    });

  it("is retried when the server reports that the visit is over", async () => {
    const seen: string[] = [];
    await using hub = await openHub(configOf(stdio("visiting")), { channel: visitor(seen) });
    expect((await hub.call("visiting.guarded")).text).toBe("tried 2 times");
    expect(seen).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/visit$/)]);
  });

  it("is retried after a delay if the server never reports the visit", async () => {
    const seen: string[] = [];
    await using hub = await openHub(configOf(stdio("visiting")), { channel: visitor(seen) });
    expect((await hub.call("visiting.guarded", { announce: false })).text).toBe("tried 2 times");
    expect(seen).toHaveLength(1);
  });

  it("does not ask twice for an accepted visit", async () => {
    const seen: string[] = [];
    const controller = new AbortController();
    const logs = new Told<ServerLog>();
    const channel = { ...visitor(seen), log: logs.tell };
    await using hub = await openHub(configOf(stdio("visiting")), { channel });
    const call = hub.call("visiting.impossible", {}, { signal: controller.signal });
    call.catch(() => {});
    // The second try was refused for the same page, which the user is presumably still visiting.
    while ((await logs.next()).data !== "try 3");
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
    expect(seen).toHaveLength(1);
  });

  it("fails with the page if no one visits it", async () => {
    const refused = {
      code: "UPSTREAM",
      hint: expect.stringMatching(/^Open http:\/\/127\.0\.0\.1:\d+\/visit, then call again\. .*elicitation\.url/),
    };
    await using declining = await openHub(configOf(stdio("visiting")), { channel: visitor([], "decline") });
    await expect(declining.call("visiting.guarded")).rejects.toMatchObject(refused);
    await using alone = await openHub(configOf(stdio("visiting")));
    await expect(alone.call("visiting.guarded")).rejects.toMatchObject(refused);
  });
});
