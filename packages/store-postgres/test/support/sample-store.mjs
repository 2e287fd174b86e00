// A store with something of everything, and the check that it is still there. Plain JavaScript: scripts and tests use it.

const encode = (text) => new TextEncoder().encode(text);

/** Fills an empty store. */
export async function fillSample(store) {
  const client = { client: "sample" };
  const { sessionId } = await store.start({ label: "sample session" }, client);
  await store.add({ name: "a.md", content: "# First pelican\n", tags: ["bird"], metadata: { size: 3 } }, client);
  await store.add({ name: "b.ts", content: "export function heron() {}\n", collection: "code" }, client);
  await store.snapshot({ label: "before" });
  await store.add({ name: "a.md", content: "# Second pelican\n" }, client);
  await store.add({ name: "gone.md", content: "in the trash\n" }, client);
  await store.delete({ name: "gone.md" }, client);
  const hash = await store.put(encode("only pinned"));
  await store.pin({ hash, session: sessionId }, client);
  await store.stop({}, client);
  await store.indexed();
}

/** Returns what is in the store, to compare. */
export async function sampleOf(store) {
  await store.indexed();
  const text = async (params) => (await store.get({ ...params, includeContent: true })).content;
  return {
    paths: (await store.list({ pathsOnly: true })).paths,
    old: (await store.search({ query: "first", snapshot: "before", type: "keyword" })).total,
    current: await text({ path: "a.md" }),
    tagged: (await store.list({ tags: ["bird"], pathsOnly: true })).paths,
    search: (await store.search({ query: "pelican", type: "keyword" })).results.map(({ path }) => path),
    grep: (await store.grep({ pattern: "h.ron", count: true })).total,
    types: (await store.graph({ listTypes: true })).types.map(({ type }) => type).sort(),
    snapshots: (await store.listSnapshots()).snapshots.map(({ label }) => label),
    sessions: (await store.listSessions()).sessions.map(({ label, documents, pinned }) => [label, documents, pinned]),
    restored: (await store.undelete({ name: "gone.md" })).restored,
    verified: (await store.verify()).problems,
  };
}
