import { spawn } from "node:child_process";
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Conversation, findAgent, type Message, textMessage } from "@trunkline/agent";
import { Redactor } from "@trunkline/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorOf, user } from "../collect.js";
import { fakeTool, scripted } from "../tools.js";

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "trunkline-conversation-"));
});
afterAll(async () => {
  await rm(home, { recursive: true, force: true });
});

describe("a conversation", () => {
  it("can be restored after it was closed", async () => {
    const path = join(home, "deep", "a.jsonl");
    const messages: Message[] = [user("hi"), textMessage("assistant", "hello")];
    {
      await using conversation = await Conversation.open(path);
      await conversation.append(...messages);
    }
    await using again = await Conversation.open(path);
    expect(again.messages).toEqual(messages);
    await again.append(user("more"));
    expect(await Conversation.load(path)).toHaveLength(3);
    if (process.platform !== "win32") expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("forgets cleared messages", async () => {
    const path = join(home, "cleared.jsonl");
    await using conversation = await Conversation.open(path);
    await conversation.append(user("old"));
    await conversation.clear();
    await conversation.append(user("new"));
    expect(await Conversation.load(path)).toEqual([user("new")]);
  });

  it("stores no secret on disk", async () => {
    const path = join(home, "secret.jsonl");
    await using conversation = await Conversation.open(path, { redactor: new Redactor().add("hunter2-hunter2") });
    await conversation.append(user("it is hunter2-hunter2"));
    expect(conversation.messages).toEqual([user("it is hunter2-hunter2")]);
    expect(await readFile(path, "utf8")).not.toContain("hunter2");
  });

  it("loses only a torn line, and continues after it", async () => {
    const path = join(home, "torn.jsonl");
    {
      await using conversation = await Conversation.open(path);
      await conversation.append(user("kept"));
    }
    await appendFile(path, '{"type":"message","message":{"role":"us');
    await using again = await Conversation.open(path);
    expect(again.messages).toEqual([user("kept")]);
    await again.append(user("next"));
    expect(await Conversation.load(path)).toEqual([user("kept"), user("next")]);
  });

  it("keeps all messages when a run fails, and can be resumed", async () => {
    const path = join(home, "failed.jsonl");
    {
      await using conversation = await Conversation.open(path);
      await conversation.append(user("read it"));
      const saved: Promise<void>[] = [];
      const request = scripted([{ tool: "a.b" }, { error: "gone" }], {
        tools: [fakeTool("a.b", () => ({ text: "42" }))],
      });
      await errorOf(
        findAgent("tools").run({
          ...request,
          messages: conversation.messages,
          onMessage: (message) => void saved.push(conversation.append(message)),
        }),
      );
      await Promise.all(saved);
    }
    await using conversation = await Conversation.open(path);
    expect(conversation.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    const result = await findAgent("tools").run(scripted([{ text: "42, then" }], { messages: conversation.messages }));
    expect(result.text).toBe("42, then");
  });

  it("survives a crash of its process", async () => {
    const path = join(home, "killed.jsonl");
    // The format is public. To simulate a killed chat, a process writes it and dies in the middle of a line.
    const program = `
      const { appendFileSync } = require("node:fs");
      const path = ${JSON.stringify(path)};
      appendFileSync(path, JSON.stringify({kind:"trunkline-conversation",version:1,createdAt:"2026-01-01T00:00:00.000Z"}) + "\\n");
      for (let n = 0; n < 50; n++) appendFileSync(path, JSON.stringify({type:"message",message:{role:"user",parts:[{type:"text",text:"m" + n}]}}) + "\\n");
      appendFileSync(path, JSON.stringify({type:"message",message:{role:"assistant",parts:[{type:"tool-call",id:"1",name:"t",args:{}}]}}) + "\\n");
      appendFileSync(path, '{"type":"mess');
      process.kill(process.pid, "SIGKILL");
    `;
    const child = spawn(process.execPath, ["-e", program], { stdio: "ignore" });
    await new Promise((resolve) => child.on("exit", resolve));
    await using conversation = await Conversation.open(path);
    expect(conversation.messages).toHaveLength(52);
    // The call now has a result, so a provider accepts the conversation.
    expect(conversation.messages.at(-1)).toMatchObject({ role: "tool", parts: [{ id: "1", isError: true }] });
  });

  it("does not touch a file in another format", async () => {
    const path = join(home, "other.jsonl");
    await writeFile(path, '{"hello":"world"}\n');
    expect(await errorOf(Conversation.open(path))).toMatchObject({ code: "CONFIG_INVALID" });
    await writeFile(path, "just text\n");
    expect(await errorOf(Conversation.open(path))).toMatchObject({ code: "CONFIG_INVALID" });
    expect(await readFile(path, "utf8")).toBe("just text\n");
  });
});
