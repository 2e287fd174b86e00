// Verifies docs/reference/protocol.md: its table covers the schemas completely, and the built server, the built gateway
// and the client do what it says, in every revision.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createChannel, type Hub, openHub } from "@trunkline/client";
import { SUPPORTED_PROTOCOL_VERSIONS } from "@trunkline/protocol";
import { describe, expect, it } from "vitest";
import { configOf, stdio } from "../../packages/client/test/hub/fixtures.js";
import { REVISIONS } from "../../packages/protocol/src/revisions.generated.js";
import { isDefined, protocolPage } from "../../scripts/protocol-page.js";
import { isSupported, type Role, SUPPORT, type Support, TASKS_EXTENSION } from "../../scripts/protocol-support.js";
import { Place, root } from "../e2e/command.js";
import { type Answer, RevisionClient } from "./revision-client.js";

const METHOD_NOT_FOUND = -32601;
const witness = join(root, "test", "docs", "witness.js");
const NOTE = "witness://note";

type Group = keyof typeof SUPPORT;
const GROUPS = Object.keys(SUPPORT) as Group[];

function rowsOf(group: Group): [method: string, support: Support][] {
  return Object.entries(SUPPORT[group]);
}

/** Reads from the table whether each message works for a role in a revision. */
function claims(group: Group, role: Role, revision: keyof typeof REVISIONS): [method: string, works: boolean][] {
  return rowsOf(group).map(([method, support]) => [
    method,
    isDefined(REVISIONS[revision], group, method) && isSupported(support, role, revision),
  ]);
}

describe("the table of supported messages", () => {
  it("has every method of every schema, and no others", () => {
    for (const group of GROUPS) {
      const [direction, kind] = group.split(" ") as ["client-to-server", "requests" | "notifications"];
      const defined = Object.values(REVISIONS).flatMap((facts): readonly string[] => [
        ...facts[kind][direction],
        ...(group === "server-to-client requests" ? facts.inputRequests : []),
      ]);
      expect(
        rowsOf(group)
          .map(([method]) => method)
          .sort(),
        group,
      ).toEqual([...new Set(defined)].sort());
    }
    expect(Object.keys(REVISIONS)).toEqual(SUPPORTED_PROTOCOL_VERSIONS);
  });

  it("gives a reason for everything that is not supported", () => {
    const silent = GROUPS.flatMap((group) => rowsOf(group)).filter(
      ([, { not, notIn, note }]) => (not ?? notIn) && note === undefined,
    );
    expect(silent).toEqual([]);
  });

  it("is the source of the page", () => {
    const page = readFileSync(join(root, "docs", "reference", "protocol.md"), "utf8");
    expect(page, "run `npm run reference`").toBe(protocolPage(REVISIONS));
  });
});

/** Valid parameters for each request; for the gateway, they name items of the witness. */
function requestParams(client: RevisionClient, behind: "nothing" | "witness") {
  const own = behind === "nothing";
  const call = own
    ? { name: "query", arguments: { steps: [{ op: "describe" }] } }
    : { name: "mcp__witness__seen", arguments: {} };
  const uri = own ? "trunkline://status" : NOTE;
  const prompt = own ? "search_codebase" : "witness.greet";
  return new Map<string, Record<string, unknown>>([
    ["initialize", client.handshake],
    ["tools/call", call],
    ["prompts/get", { name: prompt, arguments: { query: "x" } }],
    ["resources/read", { uri }],
    ["resources/subscribe", { uri }],
    ["resources/unsubscribe", { uri }],
    ["subscriptions/listen", { notifications: { promptsListChanged: true, resourcesListChanged: true } }],
    ["logging/setLevel", { level: "debug" }],
    [
      "completion/complete",
      own
        ? { ref: { type: "ref/resource", uri: "trunkline://snapshot/{id}" }, argument: { name: "id", value: "" } }
        : { ref: { type: "ref/prompt", name: prompt }, argument: { name: "name", value: "" } },
    ],
  ]);
}

/** Sends every request and returns which of them the server supports. */
async function answeredBy(client: RevisionClient, behind: "nothing" | "witness"): Promise<[string, boolean][]> {
  const params = requestParams(client, behind);
  const found: [string, boolean][] = [];
  for (const [method] of rowsOf("client-to-server requests")) {
    if (method.startsWith("tasks/")) {
      found.push([method, await hasTasks(client, method, params.get("tools/call") ?? {})]);
      continue;
    }
    const answer = client.begin(method, params.get(method));
    if (method === "subscriptions/listen" && client.isModern) {
      // The request is only answered when the subscription ends.
      await client.isTold("notifications/subscriptions/acknowledged");
      found.push([method, true]);
    } else found.push([method, isAnswered(method, await answer)]);
  }
  return found;
}

async function hasTasks(client: RevisionClient, method: string, call: Record<string, unknown>): Promise<boolean> {
  // The newest revision's extension has some of these names, but is not part of the revision.
  if (client.isModern) return false;
  const { result } = await client.begin("tools/call", { ...call, task: { ttl: 60_000 } });
  const task = result?.task as { taskId: string } | undefined;
  const answer = await client.begin(method, { taskId: task?.taskId ?? "none" });
  if (task !== undefined && method === "tasks/result") await client.isTold("notifications/tasks/status");
  return answer.error?.code !== METHOD_NOT_FOUND;
}

function isAnswered(method: string, { result, error }: Answer): boolean {
  if (result !== undefined) return true;
  // The old handshake is rejected with the list of supported revisions.
  if (method === "initialize" && error?.code === -32022) return false;
  expect({ method, error }).toMatchObject({ error: { code: METHOD_NOT_FOUND } });
  return false;
}

describe("the tasks extension:", () => {
  it("the server supports its requests and no other task requests", async () => {
    using place = new Place();
    await using client = await new RevisionClient(place, [], "2026-07-28").open();
    const names = Object.keys(SUPPORT["client-to-server requests"]).filter((method) => method.startsWith("tasks/"));
    const requests = Object.keys(TASKS_EXTENSION).filter((method) => method.startsWith("tasks/"));
    const known: string[] = [];
    for (const method of new Set([...requests, ...names])) {
      const { error } = await client.begin(method, { taskId: "none", inputResponses: {} });
      if (error?.code !== METHOD_NOT_FOUND) known.push(method);
    }
    expect(known).toEqual(requests);
  });
});

describe.each(SUPPORTED_PROTOCOL_VERSIONS)("%s:", (revision) => {
  it("the server answers what the table says and rejects the rest as unknown", async () => {
    using place = new Place();
    await using client = await new RevisionClient(place, [], revision).open();
    expect(await answeredBy(client, "nothing")).toEqual(claims("client-to-server requests", "server", revision));
  });

  it("the gateway answers, asks and notifies as the table says", async () => {
    using place = new Place({
      "mcp.json": { servers: { witness: { command: process.execPath, args: [witness, revision] } } },
    });
    const args = ["--mcp", "mcp.json", "--surface", "direct"];
    await using client = await new RevisionClient(place, args, revision).open();
    expect(await answeredBy(client, "witness")).toEqual(claims("client-to-server requests", "gateway", revision));

    const call = (name: string, given: Record<string, unknown> = {}, _meta = {}) =>
      client.request("tools/call", { name: `mcp__witness__${name}`, arguments: given, _meta });
    if (!client.isModern) {
      await client.begin("logging/setLevel", { level: "debug" });
      await client.begin("resources/subscribe", { uri: NOTE });
    } else {
      const resourceSubscriptions = [NOTE];
      const lists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
      void client.begin("subscriptions/listen", { notifications: { ...lists, resourceSubscriptions } });
    }
    for (const [method, works] of claims("server-to-client requests", "gateway", revision)) {
      if (!isDefined(REVISIONS[revision], "server-to-client requests", method)) continue;
      await call("ask", { method, params: QUESTIONS[method] ?? { taskId: "none" } });
      expect([method, client.told.has(method)]).toEqual([method, works]);
    }
    for (const [method, works] of claims("server-to-client notifications", "gateway", revision)) {
      const params = TOLD[method];
      if (params === undefined || !isDefined(REVISIONS[revision], "server-to-client notifications", method)) continue;
      if (method === "notifications/elicitation/complete") {
        // It only goes to a client that was asked to visit the page.
        await call("ask", { method: "elicitation/create", params: VISIT });
      }
      client.told.delete(method);
      const telling = call("tell", { method, params }, { progressToken: 1 });
      if (works) await client.isTold(method);
      await call("seen");
      await telling;
      expect([method, client.told.has(method)]).toEqual([method, works]);
    }
  });

  it("the client sends, answers and receives what the table says", async () => {
    await using met = await meet(revision);
    const { hub } = met;
    const sent = [];
    for (const [method] of rowsOf("client-to-server requests")) {
      if (!OF_THE_CONNECTION.has(method)) {
        await hub.request("witness", method, { name: "seen", uri: NOTE, level: "debug" }).catch(() => undefined);
      }
      sent.push(method);
    }
    const controller = new AbortController();
    const questions: [string, boolean][] = [];
    for (const [method] of rowsOf("server-to-client requests")) {
      if (!isDefined(REVISIONS[revision], "server-to-client requests", method)) continue;
      const params = QUESTIONS[method] ?? { taskId: "none" };
      const { text } = await hub.call("witness.ask", { method, params }, { signal: controller.signal });
      questions.push([method, text.startsWith("answered")]);
    }
    expect(questions).toEqual(
      claims("server-to-client requests", "client", revision).filter(([method]) =>
        isDefined(REVISIONS[revision], "server-to-client requests", method),
      ),
    );

    for (const [method, works] of claims("server-to-client notifications", "client", revision)) {
      const params = TOLD[method];
      if (params === undefined || !HEARD.has(method) || !works) continue;
      const onProgress = () => met.hear("notifications/progress");
      met.forget(method);
      const telling = hub.call("witness.tell", { method, params }, { onProgress });
      await met.heard(method);
      await hub.call("witness.seen");
      await telling;
    }

    await hub.setRoots([{ uri: "file:///elsewhere" }]);
    const { text } = await hub.call("witness.seen");
    const seen = new Set(JSON.parse(text) as string[]);
    // The client tries both ways to start, to detect a server's era.
    seen.delete(revision === "2026-07-28" ? "initialize" : "server/discover");
    const expected = claims("client-to-server requests", "client", revision).filter(([, works]) => works);
    expect(sent.filter((method) => seen.has(method))).toEqual(expected.map(([method]) => method));
    for (const [method, works] of claims("client-to-server notifications", "client", revision)) {
      if (method !== "notifications/cancelled") expect([method, seen.has(method)]).toEqual([method, works]);
    }
  });
});

/** A server's questions, with answerable parameters. */
const QUESTIONS: Readonly<Record<string, Record<string, unknown>>> = {
  "elicitation/create": {
    message: "Who?",
    requestedSchema: { type: "object", properties: { name: { type: "string" } } },
  },
  "sampling/createMessage": { messages: [{ role: "user", content: { type: "text", text: "?" } }], maxTokens: 10 },
  "roots/list": {},
  ping: {},
};

/** A question that asks for the visit of a page. */
const VISIT = { mode: "url", message: "Sign in", url: "https://example.com/sign-in", elicitationId: "e" };

/** Notifications that a server sends on its own; the others belong to something in progress. */
const TOLD: Readonly<Record<string, Record<string, unknown>>> = {
  "notifications/message": { level: "error", data: "told" },
  "notifications/progress": { progress: 1 },
  "notifications/tools/list_changed": {},
  "notifications/prompts/list_changed": {},
  "notifications/resources/list_changed": {},
  "notifications/resources/updated": { uri: NOTE },
  "notifications/elicitation/complete": { elicitationId: VISIT.elicitationId },
};

/** The notifications that the hub passes to its program. */
const HEARD: ReadonlySet<string> = new Set(
  Object.keys(TOLD).filter((method) => method !== "notifications/elicitation/complete"),
);

/** Sent by the connection, not by a program. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set(["initialize", "server/discover", "subscriptions/listen"]);

interface Meeting extends AsyncDisposable {
  readonly hub: Hub;
  hear(method: string): void;
  forget(method: string): void;
  heard(method: string): Promise<void>;
}

/** Connects a hub to the witness and records what it receives. */
async function meet(revision: string): Promise<Meeting> {
  const told = new Set<string>();
  let onTold = () => {};
  const hear = (method: string) => {
    told.add(method);
    onTold();
  };
  const channel = createChannel({
    elicit: async () => ({ action: "accept", content: { name: "Ada" } }),
    sample: async () => ({ role: "assistant", model: "none", content: { type: "text", text: "sampled" } }),
    roots: async () => [{ uri: "file:///somewhere" }],
    log: () => hear("notifications/message"),
    logLevel: "debug",
  });
  const server = stdio("witness", [], { args: [witness, revision] });
  const onCatalogChanged = (changed: readonly string[]) => {
    for (const kind of changed) hear(`notifications/${kind}/list_changed`);
  };
  const hub = await openHub(configOf(server), { channel, onCatalogChanged });
  expect(hub.status()[0]).toMatchObject({ state: "connected", revision });
  await hub.subscribe("witness", NOTE, () => hear("notifications/resources/updated"));
  return {
    hub,
    hear,
    forget: (method) => void told.delete(method),
    heard: async (method) => {
      while (!told.has(method)) {
        await new Promise<void>((resolve) => {
          onTold = resolve;
        });
      }
    },
    [Symbol.asyncDispose]: () => hub.close(),
  };
}
