// The tools the official suite expects a server to have, under its fixed names. They are independent of transport and
// protocol revision.
import { setTimeout as sleep } from "node:timers/promises";

/**
 * @typedef {object} FixtureContext What a fixture can do while it runs.
 * @property {AbortSignal} signal
 * @property {Readonly<Record<string, unknown>>} capabilities The client's declared capabilities.
 * @property {(message: string, requestedSchema: Record<string, unknown>, key?: string) => Promise<Record<string, any>>}
 * elicit
 * @property {(params: Record<string, unknown>) => Promise<Record<string, any>>} sample
 * @property {() => Promise<readonly { uri: string }[]>} roots
 * @property {(level: string, data: unknown) => void} log
 * @property {(progress: number, total: number) => void} progress
 * @property {(kind: "tools_list_changed" | "prompts_list_changed") => void} announce
 * @property {(capabilities: Record<string, unknown>) => Error} missingCapability
 * @property {(message: string) => Error} protocolError
 */
/** @typedef {Record<string, any>} Args */
/** @typedef {{ content: readonly Record<string, unknown>[], isError?: boolean }} Result */
/**
 * @typedef {object} FixtureTool
 * @property {Record<string, any> & { name: string }} definition
 * @property {(args: Args, context: FixtureContext) => Result | Promise<Result>} run
 */

/** One red pixel. */
export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
/** A silent sound file. */
const WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

const image = { type: "image", data: PNG, mimeType: "image/png" };
const nameSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

/** @param {string} value */
const text = (value) => ({ content: [{ type: "text", text: value }] });

/**
 * @param {string} name
 * @param {FixtureTool["run"]} run
 * @param {Record<string, unknown>} [more]
 * @returns {FixtureTool}
 */
function tool(name, run, more = {}) {
  return {
    definition: { name, description: `Fixture ${name}`, inputSchema: { type: "object", properties: {} }, ...more },
    run,
  };
}

/** @param {Record<string, string>} properties Types by name; all are required. */
function takes(properties) {
  const types = Object.entries(properties).map(([name, type]) => [name, { type }]);
  return {
    inputSchema: { type: "object", properties: Object.fromEntries(types), required: Object.keys(properties) },
  };
}

const asTask = { execution: { taskSupport: "required" } };
const mayBeTask = { execution: { taskSupport: "optional" } };

const contentTools = [
  tool("test_simple_text", () => text("This is a simple text response for testing.")),
  tool("test_image_content", () => ({ content: [image] })),
  tool("test_audio_content", () => ({ content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }] })),
  tool("test_embedded_resource", () => ({
    content: [
      {
        type: "resource",
        resource: {
          uri: "test://embedded-resource",
          mimeType: "text/plain",
          text: "This is an embedded resource content.",
        },
      },
    ],
  })),
  tool("test_multiple_content_types", () => ({
    content: [
      { type: "text", text: "Multiple content types test:" },
      image,
      {
        type: "resource",
        resource: {
          uri: "test://mixed-content-resource",
          mimeType: "application/json",
          text: JSON.stringify({ test: "data", value: 123 }),
        },
      },
    ],
  })),
  tool("test_error_handling", () => ({
    ...text("This tool intentionally returns an error for testing"),
    isError: true,
  })),
  tool("test_custom_headers", ({ region }) => text(`region: ${region}`), {
    inputSchema: {
      type: "object",
      properties: { region: { type: "string", "x-mcp-header": "Region" } },
      required: ["region"],
    },
  }),
  tool("json_schema_2020_12_tool", (args) => text(JSON.stringify(args)), {
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: {
        address: {
          $anchor: "addressDef",
          type: "object",
          properties: { street: { type: "string" }, city: { type: "string" } },
        },
      },
      properties: {
        name: { type: "string" },
        address: { $ref: "#/$defs/address" },
        contactMethod: { type: "string", enum: ["phone", "email"] },
        phone: { type: "string" },
        email: { type: "string" },
      },
      allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
      if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ["phone"] },
      else: { required: ["email"] },
      additionalProperties: false,
    },
  }),
];

const talkingTools = [
  tool("test_tool_with_logging", async (_, { log, signal }) => {
    log("info", "Tool execution started");
    await sleep(50, undefined, { signal });
    log("info", "Tool processing data");
    await sleep(50, undefined, { signal });
    log("info", "Tool execution completed");
    return text("Logged three times.");
  }),
  tool("test_logging_tool", (_, { log }) => {
    log("info", "Logged during a call");
    return text("Logged once.");
  }),
  tool("test_tool_with_progress", async (_, { progress, signal }) => {
    for (const step of [0, 50, 100]) {
      progress(step, 100);
      await sleep(50, undefined, { signal });
    }
    return text("Progressed three times.");
  }),
  // The suite checks how the stream of a long call starts: this tool logs right away and then takes its time.
  tool("test_reconnection", async (_, { log, signal }) => {
    log("info", "The call takes a while");
    await sleep(300, undefined, { signal });
    return text("Reconnection test completed.");
  }),
  tool("test_trigger_tool_change", (_, { announce }) => {
    announce("tools_list_changed");
    return text("The tools changed.");
  }),
  tool("test_trigger_prompt_change", (_, { announce }) => {
    announce("prompts_list_changed");
    return text("The prompts changed.");
  }),
];

const askingTools = [
  tool(
    "test_sampling",
    async ({ prompt }, { sample }) => {
      const { content } = await sample({
        messages: [{ role: "user", content: { type: "text", text: prompt } }],
        maxTokens: 100,
      });
      return text(`LLM response: ${content?.text}`);
    },
    takes({ prompt: "string" }),
  ),
  tool(
    "test_elicitation",
    async ({ message }, { elicit }) => {
      const { action, content } = await elicit(message, {
        type: "object",
        properties: {
          username: { type: "string", description: "User's response" },
          email: { type: "string", description: "User's email address" },
        },
        required: ["username", "email"],
      });
      return text(`User response: action: ${action}, content: ${JSON.stringify(content)}`);
    },
    takes({ message: "string" }),
  ),
  tool("test_elicitation_sep1034_defaults", async (_, { elicit }) => {
    const { action, content } = await elicit("Please review the defaults.", {
      type: "object",
      properties: {
        name: { type: "string", default: "John Doe" },
        age: { type: "integer", default: 30 },
        score: { type: "number", default: 95.5 },
        status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
        verified: { type: "boolean", default: true },
      },
      required: [],
    });
    return text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);
  }),
  tool("test_elicitation_sep1330_enums", async (_, { elicit }) => {
    const options = ["option1", "option2", "option3"];
    const titled = [1, 2, 3].map((number) => ({ const: `value${number}`, title: `Option ${number}` }));
    const { action, content } = await elicit("Please choose.", {
      type: "object",
      properties: {
        untitledSingle: { type: "string", enum: options },
        titledSingle: { type: "string", oneOf: titled },
        legacyEnum: {
          type: "string",
          enum: ["opt1", "opt2", "opt3"],
          enumNames: ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti: { type: "array", items: { type: "string", enum: options } },
        titledMulti: { type: "array", items: { anyOf: titled } },
      },
      required: [],
    });
    return text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);
  }),
  tool("test_missing_capability", async (_, { capabilities, missingCapability }) => {
    if (capabilities.sampling === undefined) throw missingCapability({ sampling: {} });
    return text("The client can sample.");
  }),
  tool("test_streaming_elicitation", async (_, { elicit }) => {
    const { action } = await elicit("What is your name?", nameSchema);
    return text(`action: ${action}`);
  }),
  tool("test_input_required_result_elicitation", async (_, { elicit }) => {
    const { content } = await elicit("What is your name?", nameSchema, "user_name");
    return text(`Hello, ${content?.name}!`);
  }),
  tool("test_input_required_result_sampling", async (_, { sample }) => {
    const { content } = await sample({
      messages: [{ role: "user", content: { type: "text", text: "What is the capital of France?" } }],
      maxTokens: 100,
    });
    return text(`The model said: ${content?.text}`);
  }),
  tool("test_input_required_result_list_roots", async (_, { roots }) => {
    return text(`Roots: ${(await roots()).map(({ uri }) => uri).join(", ")}`);
  }),
  tool("test_input_required_result_request_state", async (_, { elicit }) => {
    const { content } = await elicit("Please confirm", {
      type: "object",
      properties: { ok: { type: "boolean" } },
      required: ["ok"],
    });
    return text(`state-ok: ${content?.ok}`);
  }),
  tool("test_input_required_result_multiple_inputs", async (_, { elicit, sample, roots }) => {
    const [name, greeting, folders] = await Promise.all([
      elicit("What is your name?", nameSchema),
      sample({
        messages: [{ role: "user", content: { type: "text", text: "Generate a greeting" } }],
        maxTokens: 50,
      }),
      roots(),
    ]);
    return text(`${name.content?.name}: ${greeting.content?.text} (${folders.length} roots)`);
  }),
  tool("test_input_required_result_multi_round", async (_, { elicit }) => {
    const { content: first } = await elicit("Step 1: What is your name?", nameSchema);
    const { content: second } = await elicit("Step 2: What is your favorite color?", {
      type: "object",
      properties: { color: { type: "string" } },
      required: ["color"],
    });
    return text(`${first?.name} likes ${second?.color}`);
  }),
  tool("test_input_required_result_tampered_state", async (_, { elicit }) => {
    const { action } = await elicit("Please confirm", {
      type: "object",
      properties: { ok: { type: "boolean" } },
      required: ["ok"],
    });
    return text(`action: ${action}`);
  }),
  tool("test_input_required_result_capabilities", async (_, { capabilities, elicit, sample }) => {
    const asked = [];
    if (capabilities.elicitation !== undefined) asked.push(elicit("What is your name?", nameSchema));
    if (capabilities.sampling !== undefined) {
      asked.push(sample({ messages: [{ role: "user", content: { type: "text", text: "Hello" } }], maxTokens: 50 }));
    }
    return text(`${(await Promise.all(asked)).length} answers`);
  }),
];

const taskTools = [
  tool("greet", ({ name }) => text(`Hello, ${name}!`), takes({ name: "string" })),
  tool(
    "slow_compute",
    async ({ seconds, label }, { signal }) => {
      await sleep(Number(seconds) * 1_000, undefined, { signal });
      return text(`Computed ${label ?? ""} for ${seconds} s`);
    },
    {
      ...mayBeTask,
      inputSchema: {
        type: "object",
        properties: { seconds: { type: "number" }, label: { type: "string" } },
        required: ["seconds"],
      },
    },
  ),
  tool(
    "failing_job",
    async (_, { signal }) => {
      await sleep(300, undefined, { signal });
      return { ...text("The job failed."), isError: true };
    },
    asTask,
  ),
  tool(
    "protocol_error_job",
    async (_, { signal, protocolError }) => {
      await sleep(300, undefined, { signal });
      throw protocolError("The job broke.");
    },
    asTask,
  ),
  tool(
    "confirm_delete",
    async ({ filename }, { elicit }) => {
      const { action } = await elicit(`Delete ${filename}?`, {
        type: "object",
        properties: { confirm: { type: "boolean" } },
        required: ["confirm"],
      });
      return text(action === "accept" ? `Deleted ${filename}` : "Kept");
    },
    { ...asTask, ...takes({ filename: "string" }) },
  ),
  tool(
    "multi_input",
    async (_, { elicit }) => {
      const answers = await Promise.all([elicit("Your name?", nameSchema), elicit("Another name?", nameSchema)]);
      return text(answers.map(({ content }) => content?.name).join(", "));
    },
    asTask,
  ),
  tool(
    "test_tool_with_task",
    async (_, { elicit, signal }) => {
      const { content } = await elicit("What is your name?", nameSchema);
      await sleep(1_000, undefined, { signal });
      return text(`Hello, ${content?.name}!`);
    },
    mayBeTask,
  ),
];

export const fixtureTools = [...contentTools, ...talkingTools, ...askingTools, ...taskTools];
