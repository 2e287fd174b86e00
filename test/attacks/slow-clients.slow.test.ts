// Clients that send their requests so slowly that they would occupy connections forever.
import { connect } from "node:net";
import { expect, it } from "vitest";
import { startHttp } from "../../packages/gateway/test/endpoints/http-client.js";

/** Sends bytes, keeps the connection open, and returns the first line of the answer once the server closes it. */
async function sendPart(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return await new Promise((resolve, reject) => {
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true }, () => socket.write(text));
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error("The connection stays open."));
    }, 120_000);
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk.toString("latin1");
    });
    socket.on("error", reject);
    socket.on("end", () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer.split("\r\n")[0] ?? "");
    });
  });
}

it("a client that never finishes its headers or its body is disconnected", async () => {
  const { url } = await startHttp();
  const head = "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n";
  const json = "content-type: application/json\r\naccept: application/json, text/event-stream\r\n";
  const answers = [head, `${head}${json}content-length: 100\r\n\r\n{`].map((text) => sendPart(url, text));
  expect(await Promise.all(answers)).toEqual(Array(2).fill("HTTP/1.1 408 Request Timeout"));
});
