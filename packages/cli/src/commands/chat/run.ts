import { createInterface } from "node:readline";
import { messageText } from "@trunkline/agent";
import { abortError, printable, TrunklineError, toTrunklineError } from "@trunkline/core";
import { type AgentOptions, refuseContradictions } from "../../agent/agent-options.js";
import { AgentSession } from "../../agent/agent-session.js";
import { CHAT_COMMANDS, isChatCommand, runChatCommand } from "../../agent/chat-commands.js";
import { ChatEditor } from "../../agent/chat-editor.js";
import { EntryReader } from "../../agent/chat-entry.js";
import { findChatFile, newChatFile } from "../../agent/chat-files.js";
import { ChatHistory } from "../../agent/chat-history.js";
import { ChatTalk } from "../../agent/chat-talk.js";
import { EXIT } from "../../app/exit-codes.js";
import { type CommandContext, isAtTerminal } from "../../terminal/context.js";

export interface ChatOptions extends AgentOptions {
  words: readonly string[];
  /** `true` resumes the last conversation; a string resumes the one with that id. */
  resume?: boolean | string;
}

interface Chat {
  readonly context: CommandContext;
  readonly options: ChatOptions;
  readonly session: AgentSession;
  readonly talk: ChatTalk;
}

/** How much of the last answer to show when a conversation continues. */
const MAX_SHOWN_CHARS = 200;

/** Runs a conversation: with an editor at a terminal, otherwise line by line from standard input. */
export async function chat(context: CommandContext, options: ChatOptions): Promise<number> {
  refuseContradictions(options);
  const { resume } = options;
  const file =
    resume === undefined || resume === false
      ? newChatFile(context, new Date(context.clock.now()))
      : await findChatFile(context, typeof resume === "string" ? resume : undefined);
  const atTerminal = isAtTerminal(context);
  await using session = await AgentSession.open(context, {
    ...options,
    name: "chat",
    agent: "tools",
    stream: options.format === "text",
    folded: atTerminal,
  });
  await using talk = new ChatTalk(context, session, file);
  if (resume !== undefined) await recall(context, talk);
  const parts = { context, options, session, talk };
  const code = atTerminal ? await talkAtTerminal(parts) : await talkByLines(parts);
  if (atTerminal && !talk.isEmpty) context.note(`Continue with: trunkline chat --resume ${talk.file.id}`);
  return code;
}

async function recall(context: CommandContext, talk: ChatTalk): Promise<void> {
  const messages = await talk.resume();
  const last = messages.findLast((message) => message.role === "assistant" && messageText(message) !== "");
  context.note(`Continuing ${talk.file.id}, ${messages.length} messages.`);
  if (last !== undefined) context.note(`  ${printable(firstLine(messageText(last)))}`);
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0]?.slice(0, MAX_SHOWN_CHARS) ?? "";
}

/** Runs one entry. Returns whether the chat continues. */
async function enter({ context, options, session, talk }: Chat, text: string): Promise<boolean> {
  if (text.trim() === "") return true;
  if (isChatCommand(text)) {
    return await runChatCommand(context, text, { session, clear: () => talk.clear(), mcp: options.mcp });
  }
  try {
    const outcome = await talk.say(text);
    if (outcome === "stopped") context.note("Stopped.");
  } finally {
    session.printUsage();
  }
  return true;
}

async function talkAtTerminal(parts: Chat): Promise<number> {
  const { context, options, session } = parts;
  const history = await ChatHistory.open(context);
  const editor = new ChatEditor(context, { history: () => history.newestFirst(), commands: CHAT_COMMANDS });
  context.note(`${session.model.provider}/${session.model.id}. /help lists the commands; Ctrl-D ends the chat.`);
  const begin = options.words.join(" ").trim();
  let interruptions = 0;
  for (let isFirst = true; ; isFirst = false) {
    let text = isFirst ? begin : "";
    if (text === "") {
      // A server's question waits until the entry is complete: there is only one terminal.
      const entry = await (session.terminal?.take(() => editor.read()) ?? editor.read());
      if (context.signal.aborted) throw abortError(context.signal, "The chat");
      if (entry.type === "ended") return EXIT.success;
      if (entry.type === "interrupted") {
        interruptions = entry.wasEmpty ? interruptions + 1 : 0;
        if (interruptions > 1) return EXIT.interrupted;
        if (entry.wasEmpty) context.note("Ctrl-C again, or Ctrl-D, ends the chat.");
        continue;
      }
      text = entry.text;
    }
    interruptions = 0;
    await history.add(text);
    try {
      if (!(await enter(parts, text))) return EXIT.success;
    } catch (error) {
      if (context.signal.aborted) throw error;
      sayError(context, error);
    }
  }
}

/** Without a terminal, every line is a turn, and the chat ends when one fails. */
async function talkByLines(parts: Chat): Promise<number> {
  const { context, options } = parts;
  const begin = options.words.join(" ").trim();
  if (begin !== "" && !(await enter(parts, begin))) return EXIT.success;
  const reader = createInterface({ input: context.io.stdin, signal: context.signal });
  const entries = new EntryReader();
  for await (const line of reader) {
    const text = entries.add(line);
    if (text !== undefined && !(await enter(parts, text))) {
      reader.close();
      context.io.stdin.destroy();
      return EXIT.success;
    }
  }
  if (context.signal.aborted) throw abortError(context.signal, "The chat");
  const rest = entries.end();
  if (rest !== undefined) await enter(parts, rest);
  return EXIT.success;
}

/** Reports a failed turn; the conversation continues. */
function sayError(context: CommandContext, error: unknown): void {
  const { message, hint } = toTrunklineError(error);
  context.note(`trunkline: ${message}`);
  if (hint !== undefined) context.note(`  ${hint}`);
  if (!(error instanceof TrunklineError)) {
    context.logger.debug("unexpected error", { stack: error instanceof Error ? error.stack : String(error) });
  }
}
