// Well-behaved clients. Calls to sound servers must return their own text; calls to faulty servers must get a response.
import { Agent } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { McpClient, textOf } from "./mcp-client.js";
import { Random } from "./random.js";

/** The checks that clients can fail. */
export const CLIENT_CHECKS = {
  sound: "calls of sound servers are answered, each caller with its own text",
  faulty: "calls of faulty servers end in time, with an answer or a clear error",
};

/** Far longer than any server timeout: a call that takes this long is hanging. */
const HANG_MS = 60_000;

/**
 * @typedef {import("./upstreams.js").Upstream} Upstream
 * @typedef {{ url: string, seed: number, tally: import("./tally.js").Tally, signal: AbortSignal, upstreams: readonly Upstream[] }} Scene
 */

/** Sleeps, or returns early if the signal is aborted. @param {number} ms @param {AbortSignal} signal */
export async function pause(ms, signal) {
  await delay(ms, undefined, { signal }).catch((error) => {
    if (!signal.aborted) throw error;
  });
}

/**
 * Runs all well-behaved clients. Resolves when the signal is aborted and every call has ended. @param {Scene} scene
 * @param {{ sound: number, faulty: number }} counts
 */
export async function runClients(scene, counts) {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const sound = Array.from({ length: counts.sound }, (_, index) => soundClient(scene, agent, index));
  const faulty = Array.from({ length: counts.faulty }, (_, index) => faultyClient(scene, agent, index));
  await Promise.all([...sound, ...faulty]);
  agent.destroy();
}

/** Calls every sound server once, so all of them are connected. @param {Scene} scene */
export async function warmUp(scene) {
  const agent = new Agent({ keepAlive: true });
  for (const modern of [true, false]) {
    const client = new McpClient(scene.url, { modern, agent });
    await client.open();
    const calls = scene.upstreams.map((upstream) =>
      upstream.echo === undefined
        ? faultyCall(scene, client, { upstream, random: new Random(scene.seed, "warm") })
        : echoCall(scene, client, { upstream, text: "warm", composite: modern }),
    );
    await Promise.all(calls);
    await client.close();
  }
  agent.destroy();
}

/** @param {Scene} scene @param {Agent} agent @param {number} index */
async function soundClient(scene, agent, index) {
  const random = new Random(scene.seed, `sound ${index}`);
  const sound = scene.upstreams.filter(({ echo }) => echo !== undefined);
  const client = await opened(scene, { agent, modern: index % 2 === 0, check: CLIENT_CHECKS.sound });
  for (let number = 0; !scene.signal.aborted; number++) {
    const composite = random.next() < 0.25;
    const long = !composite && random.next() < 0.1;
    const text = `client ${index} call ${number} ${random.next()} ${long ? "Grüße, 世界 👋 ".repeat(1_000) : ""}end`;
    await echoCall(scene, client, { upstream: random.pick(sound), text, composite });
    await pause(random.between(50, 350), scene.signal);
  }
  await client.close();
}

/** @param {Scene} scene @param {Agent} agent @param {number} index */
async function faultyClient(scene, agent, index) {
  const random = new Random(scene.seed, `faulty ${index}`);
  const faulty = scene.upstreams.filter(({ call }) => call !== undefined);
  const client = await opened(scene, { agent, modern: index % 2 === 1, check: CLIENT_CHECKS.faulty });
  while (!scene.signal.aborted) {
    await faultyCall(scene, client, { upstream: random.pick(faulty), random });
    await pause(random.between(100, 700), scene.signal);
  }
  await client.close();
}

/** @param {Scene} scene @param {{ agent: Agent, modern: boolean, check: string }} options */
async function opened(scene, { agent, modern, check }) {
  const client = new McpClient(scene.url, { modern, agent });
  try {
    await client.open(AbortSignal.timeout(HANG_MS));
  } catch (error) {
    scene.tally.problem(check, `cannot open a session: ${error}`);
    throw error;
  }
  return client;
}

/** @typedef {{ upstream: Upstream, text: string, composite: boolean }} Echoing */

/** @param {Scene} scene @param {McpClient} client @param {Echoing} echoing */
async function echoCall({ tally }, client, echoing) {
  const { upstream, text } = echoing;
  const era = client.isModern ? "without a session" : "in a session";
  tally.count(`calls of sound servers, ${era}`);
  try {
    let said = await echoOnce(client, echoing);
    if (upstream.over !== "stdio" && said.includes('"CONNECTION_FAILED"')) {
      // The other end closed a reused connection just as we used it, which happens if a busy machine notices too late.
      // The gateway cannot know whether the call ran, so it reports the failure and lets the client decide.
      tally.count("calls repeated because an idle connection had just been closed");
      said = await echoOnce(client, echoing);
    }
    if (said === text) return;
    const instead = said.slice(0, 300);
    tally.problem(CLIENT_CHECKS.sound, `${upstream.name} (${era}): expected "${text.slice(0, 60)}", got ${instead}`);
  } catch (error) {
    tally.problem(CLIENT_CHECKS.sound, `${upstream.name} (${era}): ${error}`);
  }
}

/**
 * Calls a sound server and returns its response; errors are returned as JSON. @param {McpClient} client @param
 * {Echoing} echoing
 */
async function echoOnce(client, { upstream, text, composite }) {
  const { name, echo } = upstream;
  if (echo === undefined) throw new Error(`${name} has no echo tool`);
  const { tool, args } = echo(text);
  const { result, error } = composite
    ? await client.call(
        "execute",
        { operations: [{ op: `${name}.${tool}`, params: args }] },
        AbortSignal.timeout(HANG_MS),
      )
    : await client.call(`mcp__${name}__${tool}`, args, AbortSignal.timeout(HANG_MS));
  if (error !== undefined) return JSON.stringify(error);
  return composite ? compositeText(textOf(result)) : textOf(result);
}

/** Returns the text in an `execute` response, or the whole response if there is none. @param {string} answer */
function compositeText(answer) {
  return JSON.parse(answer).results?.[0]?.result?.text ?? answer;
}

/** @param {Scene} scene @param {McpClient} client @param {{ upstream: Upstream, random: Random }} what */
async function faultyCall({ tally }, client, { upstream, random }) {
  const { name, call } = upstream;
  if (call === undefined) throw new Error(`${name} has no faults`);
  const { tool, args } = call(random);
  tally.count("calls of faulty servers");
  try {
    const { result, error } = await client.call(`mcp__${name}__${tool}`, args, AbortSignal.timeout(HANG_MS));
    const said = error?.message ?? textOf(result);
    if (said === "") tally.problem(CLIENT_CHECKS.faulty, `${name}.${tool} ended with an empty response`);
    if (error !== undefined || result?.isError === true)
      tally.count("calls of faulty servers that ended with an error");
  } catch (error) {
    tally.problem(CLIENT_CHECKS.faulty, `${name}.${tool} ${JSON.stringify(args)}: ${error}`);
  }
}
