import { expect, it } from "vitest";
import { openHub } from "../../src/index.js";
import { configOf, stdio } from "./fixtures.js";

it("keeps one name table until a server is connected, replaced or gone", async () => {
  await using hub = await openHub(configOf(stdio("hello")), { lazy: true });
  const empty = hub.names();
  expect(hub.names()).toBe(empty);
  expect(empty.names("dotted")).toEqual([]);

  await hub.call({ server: "hello", tool: "hello" });
  const connected = hub.names();
  expect(connected.names("dotted")).toContain("hello.hello");
  await hub.call("hello.hello");
  expect(hub.names()).toBe(connected);

  await hub.reload(configOf(stdio("hello", [], { name: "other" })));
  expect(hub.names().names("dotted")).toEqual([]);
  await hub.connect();
  expect(hub.names().names("dotted")).toContain("other.hello");
});

it.each([[undefined], [null], [7], [{}], [{ server: "hello" }]])("rejects %j as the name of a tool", async (name) => {
  await using hub = await openHub(configOf(stdio("hello")), { lazy: true });
  // As a program without types would call it.
  await expect(hub.call(name as never)).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringContaining("{ server, tool }"),
  });
});

it("refuses the tool of a server that does not exist without connecting any", async () => {
  await using hub = await openHub(configOf(stdio("hello"), stdio("slow")), { lazy: true });
  await expect(hub.findTool("nope.foo")).rejects.toMatchObject({
    code: "TOOL_NOT_FOUND",
    message: 'No tool is named "nope.foo": there is no server "nope".',
    hint: "The servers are hello, slow.",
  });
  expect(hub.status().map(({ state }) => state)).toEqual(["pending", "pending"]);
});

it("connects only the servers that may be meant for the tool of a misspelt one", async () => {
  await using hub = await openHub(configOf(stdio("hello"), stdio("slow")), { lazy: true });
  await expect(hub.findTool("helo.hello")).rejects.toMatchObject({ data: { near: ["hello.hello"] } });
  expect(hub.status().map(({ state }) => state)).toEqual(["connected", "pending"]);
});

it("connects every server for a glob, and none for a bare name that a connected server is near to", async () => {
  await using lazy = await openHub(configOf(stdio("hello")), { lazy: true });
  expect(await lazy.findTool("*.repeat")).toMatchObject({ server: "hello", tool: "repeat" });
  await using hub = await openHub(configOf(stdio("hello"), stdio("slow", [], { lazy: true })));
  await expect(hub.findTool("hello.repaet")).rejects.toMatchObject({ data: { near: ["hello.repeat"] } });
  expect(hub.status()[1]?.state).toBe("pending");
});

it("says of each server what it was when the hub is closed", async () => {
  const hub = await openHub(
    configOf(stdio("hello"), stdio("slow", [], { disabled: true }), stdio("old", [], { trusted: false })),
  );
  await hub.close();
  expect(hub.status().map(({ name, state }) => [name, state])).toEqual([
    ["hello", "pending"],
    ["old", "untrusted"],
    ["slow", "disabled"],
  ]);
});
