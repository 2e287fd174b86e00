// The channel of the user at the terminal: servers' questions, log messages and progress. A server's text is untrusted:
// it is indented, and cannot move the cursor or pass for one of our own questions.
import {
  type CallProgress,
  createChannel,
  type Elicitation,
  type ElicitationAnswer,
  type QuestionContext,
  type ServerLog,
  type SignIn,
  type SignInRequest,
} from "@trunkline/client";
import { capText, type UrlElicitation, withoutAsker } from "@trunkline/client/internal";
import { isRecord, printable, TrunklineError } from "@trunkline/core";
import { isLogged, type LogMessageLevel } from "@trunkline/protocol";
import type { CommandContext } from "./context.js";
import { openAddress } from "./open-address.js";
import { ProgressLine } from "./progress-line.js";
import { askToSignIn } from "./sign-in-prompt.js";
import { askWord, fillForm } from "./terminal-form.js";
import { type Prompt, TerminalPrompt } from "./terminal-prompt.js";

/** The minimum level at which servers' log messages are shown. */
const SHOWN_LOG_LEVEL: LogMessageLevel = "warning";

/**
 * Limit for one text from a server: more than anyone reads before saying yes, but too little to fill a terminal's
 * memory.
 */
const MAX_SHOWN_CHARS = 20_000;

/** Maximum number of log lines held back during a question. */
const MAX_HELD_LINES = 100;

interface TerminalChannel extends ReturnType<typeof createChannel> {
  signIn: SignIn;
  /** Clears the progress line before something else is written. */
  clearProgress(): void;
}

/**
 * Creates the channel. Only for a terminal with a user at it (`isAtTerminal`): otherwise a server that asks a question
 * would wait forever.
 */
export function createTerminalChannel(context: CommandContext): TerminalChannel {
  const terminal = new Terminal(context);
  const channel = createChannel({
    name: "terminal",
    elicit: (elicitation, asked) => terminal.elicit(elicitation, asked),
    sample: (params, asked) => terminal.sample(params, asked),
    log: (message) => terminal.log(message),
    progress: (progress) => terminal.progress(progress),
  });
  return {
    ...channel,
    signIn: (request) => terminal.signIn(request),
    clearProgress: () => terminal.clearProgress(),
  };
}

class Terminal {
  readonly #context: CommandContext;
  readonly #progress: ProgressLine;
  readonly #showsProgress: boolean;
  /** Settles when the last accepted question has ended. */
  #last: Promise<void> = Promise.resolve();
  #asking = false;
  #held: string[] = [];
  #leftOut = 0;
  #interruptions = 0;

  constructor(context: CommandContext) {
    this.#context = context;
    this.#progress = new ProgressLine(context.io.stderr);
    this.#showsProgress = context.io.stderr.isTTY === true && context.env.TERM !== "dumb";
  }

  async elicit(elicitation: Elicitation, asked: QuestionContext): Promise<ElicitationAnswer> {
    return await this.#inTurn(asked, async (prompt) => {
      if (elicitation.mode === "url") return (await this.#visit(prompt, elicitation, asked)) ?? givenUp(prompt);
      // Our own questions begin with our name; a server's are introduced and indented.
      if (asked.isOwn === true) prompt.say(printable(elicitation.message));
      else {
        prompt.say(`${nameOf(asked)} asks you:`);
        sayQuoted(prompt, withoutAsker(elicitation.message, asked.server));
      }
      prompt.say("Enter accepts the value in brackets; Ctrl-D declines, Ctrl-C cancels.");
      return (await fillForm(prompt, elicitation.requestedSchema)) ?? givenUp(prompt);
    });
  }

  async signIn(request: SignInRequest): Promise<"completed" | "cancelled"> {
    return await this.#alone(request.signal, async () => {
      const outcome = await askToSignIn(this.#context, request, { browser: true });
      return this.#context.signal.aborted ? "cancelled" : outcome;
    });
  }

  async sample(
    params: Readonly<Record<string, unknown>>,
    asked: QuestionContext,
  ): Promise<Readonly<Record<string, unknown>>> {
    const text = await this.#inTurn(asked, async (prompt) => {
      prompt.say(`${nameOf(asked)} asks for a model's answer. No model is configured here; you can write the answer.`);
      for (const { speaker, said } of messagesOf(params)) {
        prompt.say(`  ${speaker}:`);
        sayQuoted(prompt, said, "    ");
      }
      const words = { yes: /^y(es)?$/i, decline: /^(d(ecline)?|no?)$/i } as const;
      if ((await askWord(prompt, "Answer it?", words)) !== "yes") return undefined;
      for (;;) {
        const line = await prompt.ask("Answer: ");
        if (line === undefined || line.trim() !== "") return line;
        prompt.say("  Please write something; Ctrl-D declines.");
      }
    });
    if (text === undefined) throw new TrunklineError("ABORTED", "The user declined at the terminal.");
    return { role: "assistant", model: "person-at-terminal", content: { type: "text", text }, stopReason: "endTurn" };
  }

  log({ server, level, logger, data }: ServerLog): void {
    if (!isLogged(level, SHOWN_LOG_LEVEL)) return;
    const said = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
    const from = logger === undefined ? "" : `${logger}: `;
    this.#note(printable(capText(`[${server}] ${level}: ${from}${said}`, MAX_SHOWN_CHARS)));
  }

  progress({ server, tool, progress, total, message }: CallProgress): void {
    if (!this.#showsProgress) return;
    const count = total === undefined ? `${progress}` : `${progress}/${total}`;
    const line = `[${server}] ${tool === undefined ? "" : `${tool} `}${count}${message === undefined ? "" : ` ${message}`}`;
    this.#progress.update(this.#context.redactor.text(printable(line)));
  }

  clearProgress(): void {
    this.#progress.clear();
  }

  /** Asks one question at a time, no matter how many arrive at once. */
  async #inTurn<T>(asked: QuestionContext, ask: (prompt: TerminalPrompt) => Promise<T>): Promise<T> {
    return await this.#alone(asked.signal, async (signal) => {
      using prompt = new TerminalPrompt(this.#context, signal);
      const answer = await ask(prompt);
      if (prompt.ending === "withdrawn") prompt.say("The question was withdrawn.");
      this.#onInterrupt(prompt.ending === "interrupted");
      return answer;
    });
  }

  /** Gives the terminal to one question at a time, and holds back other lines meanwhile. */
  async #alone<T>(withdrawn: AbortSignal, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const before = this.#last;
    let end = () => {};
    this.#last = new Promise((resolve) => {
      end = resolve;
    });
    await before;
    const signal = AbortSignal.any([this.#context.signal, withdrawn]);
    try {
      signal.throwIfAborted();
      using _held = this.#progress.hold();
      this.#asking = true;
      return await ask(signal);
    } finally {
      this.#asking = false;
      this.#sayHeld();
      end();
    }
  }

  /**
   * Ctrl-C cancels the question, and the call continues. A server could keep asking forever, so two in a row without an
   * answer in between stop the call.
   */
  #onInterrupt(interrupted: boolean): void {
    this.#interruptions = interrupted ? this.#interruptions + 1 : 0;
    if (this.#interruptions === 1) this.#context.note("The question was cancelled. Ctrl-C again stops the call.");
    else if (this.#interruptions > 1) this.#context.interrupts.raise();
  }

  /** Shows which page a server wants the user to visit. Opens nothing until the user agrees. */
  async #visit(
    prompt: Prompt,
    { url, message }: UrlElicitation,
    asked: QuestionContext,
  ): Promise<ElicitationAnswer | undefined> {
    prompt.say(`${nameOf(asked)} asks you to visit a page:`);
    sayQuoted(prompt, withoutAsker(message, asked.server));
    // Already vetted: https, or http to this machine.
    const address = new URL(url);
    prompt.say(`  Host:    ${address.host}`);
    // Not redacted: the user needs the whole URL to decide, or to open it by hand.
    this.#context.io.stderr.write(`  Address: ${printable(address.href)}\n`);
    if (/(^|\.)xn--/.test(address.hostname)) {
      prompt.say("  Careful: the host name has letters that may look like others.");
    }
    const words = {
      open: /^(o(pen)?|y(es)?)$/i,
      hand: /^h(and)?$/i,
      decline: /^(d(ecline)?|no?)$/i,
      cancel: /^c(ancel)?$/i,
    };
    const word = await askWord(prompt, "Open it in the browser, or by hand?", words);
    switch (word) {
      case "open":
        if (!(await openAddress(address, { ...this.#context, signal: asked.signal }))) {
          prompt.say("Could not open a browser. Open this URL by hand:");
          this.#context.io.stderr.write(`  ${printable(address.href)}\n`);
        }
        return { action: "accept" };
      case "hand":
        return { action: "accept" };
      case "decline":
      case "cancel":
        return { action: word };
      case undefined:
        return undefined;
    }
  }

  #note(line: string): void {
    if (this.#asking) {
      if (this.#held.length < MAX_HELD_LINES) this.#held.push(line);
      else this.#leftOut++;
      return;
    }
    this.#progress.clear();
    this.#context.note(line);
  }

  #sayHeld(): void {
    for (const line of this.#held) this.#context.note(line);
    if (this.#leftOut > 0) this.#context.note(`${this.#leftOut} more log messages arrived during the question.`);
    this.#held = [];
    this.#leftOut = 0;
  }
}

/** Names the server that asks and, if known, the tool. */
export function nameOf({ server, tool }: QuestionContext): string {
  return `Server "${printable(server)}"${tool === undefined ? "" : `, during ${printable(tool)},`}`;
}

/** Prints a server's text line by line, indented to set it apart from ours. */
export function sayQuoted(prompt: Prompt, text: string, indent = "  "): void {
  const capped = capText(text.replace(/\r\n?/g, "\n"), MAX_SHOWN_CHARS, "they are not shown here");
  for (const line of capped.split("\n")) prompt.say(`${indent}${printable(line)}`);
}

/** Ctrl-D declines; Ctrl-C or a withdrawn question cancels. */
function givenUp({ ending }: TerminalPrompt): ElicitationAnswer {
  return { action: ending === "ended" ? "decline" : "cancel" };
}

/** Formats the messages a server wants a model to answer as text. */
export function* messagesOf(params: Readonly<Record<string, unknown>>): Generator<{ speaker: string; said: string }> {
  if (typeof params.systemPrompt === "string") yield { speaker: "system", said: params.systemPrompt };
  const messages: readonly unknown[] = Array.isArray(params.messages) ? params.messages : [];
  for (const message of messages) {
    if (!isRecord(message)) continue;
    const blocks: readonly unknown[] = Array.isArray(message.content) ? message.content : [message.content];
    yield {
      speaker: message.role === "assistant" ? "assistant" : "user",
      said: blocks.map(describeBlock).join("\n"),
    };
  }
}

function describeBlock(block: unknown): string {
  if (!isRecord(block)) return "";
  if (block.type === "text" && typeof block.text === "string") return block.text;
  if (block.type === "image" || block.type === "audio") return `[${block.type}, ${String(block.mimeType)}]`;
  return JSON.stringify(block);
}
