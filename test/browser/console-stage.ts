// A person with a browser: a HOME and a project of their own, the built command, its broker, and Chromium.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { recordedBrokers } from "../../packages/daemon/src/relay/index.js";
import { outcomeOf, Place, root } from "../e2e/command.js";

const CANDIDATES = [
  process.env.TRUNKLINE_CHROMIUM ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** The path of the browser; undefined if there is none. */
export const browserPath = CANDIDATES.find((path) => path !== "" && existsSync(path));

/** The entry of one of our test servers. */
export function testServer(name: string, ...args: string[]): { command: string; args: string[] } {
  return { command: process.execPath, args: [join(root, "test", "servers", `${name}.js`), ...args] };
}

let browser: Promise<Browser> | undefined;

/** One browser for all stages of a test file. Call `closeBrowser` in `afterAll`. */
function openBrowser(): Promise<Browser> {
  if (browserPath === undefined) throw new Error("Chromium is missing. On Debian: apt-get install chromium");
  browser ??= chromium.launch({
    executablePath: browserPath,
    args: [
      // Root cannot use the sandbox.
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
    ],
  });
  return browser;
}

export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
  browser = undefined;
}

interface StageOptions {
  /** The user's own servers. */
  readonly servers?: Readonly<Record<string, object>>;
  /** Further settings of the user. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Files of the project. */
  readonly files?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  /** The name of the project, in the person's home. Default: a folder outside of it. */
  readonly project?: string;
}

export class ConsoleStage implements AsyncDisposable {
  readonly place: Place;
  /** The project's folder. */
  readonly cwd: string;
  /** Trunkline's own folder. */
  readonly home: string;
  /** Faults that pages reported: scripts that failed, requests that the content security policy blocked. */
  readonly faults: string[] = [];
  readonly #pages: Page[] = [];

  constructor({ servers = {}, settings = {}, files = {}, env = {}, project }: StageOptions = {}) {
    this.place = new Place({}, { TRUNKLINE_BROKER: "on", ...env });
    this.cwd = project === undefined ? this.place.cwd : join(this.place.home, project);
    for (const [path, content] of Object.entries(files))
      this.place.write(relative(this.place.cwd, join(this.cwd, path)), content);
    this.home = join(this.place.home, ".trunkline");
    mkdirSync(this.home, { mode: 0o700 });
    mkdirSync(join(this.cwd, ".git"), { recursive: true });
    this.configure(servers, settings);
  }

  /** Writes the user's settings. */
  configure(mcpServers: Readonly<Record<string, object>>, settings: Readonly<Record<string, unknown>> = {}): void {
    writeFileSync(join(this.home, "settings.json"), JSON.stringify({ mcpServers, ...settings }, null, 2));
  }

  /** The process id of the broker. */
  get broker(): number {
    const running = recordedBrokers(join(this.home, "run", "broker.groups")).filter(({ isAlive }) => isAlive);
    const [only] = running;
    if (only === undefined || running.length > 1) throw new Error(`${running.length} brokers are running`);
    return only.pid;
  }

  /** Runs a command of this person, as a process. Returns its stdout. Fails if its exit code is not 0. */
  async run(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.place.runProcess(args, { cwd: this.cwd });
    if (code !== 0) throw new Error(`trunkline ${args.join(" ")} ended with ${code}: ${stderr}`);
    return stdout;
  }

  /** Returns a new link to the console, as `trunkline console --no-open` prints it. */
  async link(cwd: string = this.cwd): Promise<string> {
    const child = this.place.startProcess(["console", "--no-open"], { cwd });
    child.stdin?.end();
    const { code, stdout, stderr } = await outcomeOf(child);
    if (code !== 0) throw new Error(`trunkline console ended with ${code}: ${stderr}`);
    return stdout.trim();
  }

  /** Opens the console in a new tab, at a page such as `traffic`, and waits until it is live. */
  async open(page = "servers", options: BrowserContextOptions = {}): Promise<Page> {
    const tab = await this.tab(options);
    await tab.goto(await this.link());
    // In a narrow window it is not visible.
    await tab.getByText(/^Live/).waitFor({ state: "attached" });
    await tab.evaluate(`location.hash = ${JSON.stringify(`#/${page}`)}`);
    return tab;
  }

  /** Opens an empty tab with storage of its own. */
  async tab(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await (await openBrowser()).newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const tab = await context.newPage();
    tab.on("pageerror", (error) => this.faults.push(`${error.name}: ${error.message}`));
    tab.on("console", (message) => {
      // Requests fail while the broker is away; everything else is a fault of the page.
      if (message.type() === "error" && !/Failed to load resource|ERR_/.test(message.text()))
        this.faults.push(message.text());
    });
    this.#pages.push(tab);
    return tab;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const page of this.#pages) await page.context().close();
    this.place[Symbol.dispose]();
  }
}
