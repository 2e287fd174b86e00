import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { StreamableHttpWire } from "../../src/wire/streamable-http-wire.js";
import { call, Heard, optionsFor, result, sendJson } from "./wire-support.js";

const CALLS = 5;

it("closes the connections of a burst of calls, although the server would keep them for minutes", async () => {
  const waiting: { readonly id: unknown; readonly response: ServerResponse }[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    waiting.push({ id: JSON.parse(text).id, response });
    // All calls are in flight at once, so each has a connection.
    if (waiting.length === CALLS) for (const { id, response: open } of waiting) sendJson(open, result(id));
  });
  // Longer than this test waits.
  server.keepAliveTimeout = 600_000;
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const wire = new StreamableHttpWire(optionsFor(new URL(`http://127.0.0.1:${port}/mcp`)));
  onTestFinished(() => wire.close());
  const heard = new Heard();
  await wire.start(heard);
  for (let id = 1; id <= CALLS; id++) wire.send(call(id), { owner: {} });
  for (let id = 1; id <= CALLS; id++) await heard.messages.next();
  expect(open.size).toBe(CALLS);
  await expect.poll(() => open.size).toBe(0);
});
