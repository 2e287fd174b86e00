// Writes forever and prints each acknowledged name on a line until it is killed. With "lean" it runs the writer's code
// in its own thread, which starts faster; otherwise it opens the store in the usual way.
import { writeSync } from "node:fs";

const [folder = "", prefix = "", kind = "store"] = process.argv.slice(2);
const acknowledge = kind === "lean" ? await leanWriter() : await storeWriter();

for (let number = 0; ; number++) {
  const name = `${prefix}-${number}.txt`;
  // From one line to several chunks, so that a kill hits transactions of every kind.
  const size = number % 7 === 3 ? 150_000 : 200;
  await acknowledge(name, `document ${name}\n${`${name} `.repeat(size / name.length)}`);
  // Synchronous: the parent must see every acknowledgement.
  writeSync(1, `${name}\n`);
}

async function storeWriter() {
  const { openStore } = await import("../../src/index.js");
  const store = await openStore({ path: folder });
  return (name: string, content: string) => store.add({ name, content });
}

async function leanWriter() {
  const { openForWriting } = await import("../../src/engine/threads/open-databases.js");
  const { indexers } = await import("../../src/indexers.js");
  const { WriteQueue } = await import("../../src/engine/writing/write-queue.js");
  const { addDocuments } = await import("../../src/engine/writing/store-content.js");
  const { prepareContent } = await import("../../src/engine/content/prepare.js");
  const { ChunkPacker } = await import("../../src/engine/writing/incoming.js");
  const queue = new WriteQueue(openForWriting(folder, indexers));
  return async (path: string, text: string) => {
    const packer = new ChunkPacker();
    const content = packer.content(prepareContent(Buffer.from(text), () => false));
    const documents = [{ path, root: undefined, title: undefined, file: undefined, content }];
    const batch = { collection: "default", tags: [], metadata: {}, session: undefined };
    const params = { ...batch, documents, data: packer.finish() };
    await queue.submit((context) => addDocuments(context, params));
  };
}
