// A project and a home in a temporary folder.
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Diagnostic, type LoadConfigOptions, type LoadedConfig, loadConfig } from "../../client/src/index.js";

/** Folders for one test; everything is removed on dispose. */
export class Place implements Disposable {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "trunkline-config-")));
  /** The repository root, used as the working directory. */
  readonly cwd = join(this.root, "project");
  /** `TRUNKLINE_HOME`. */
  readonly home = join(this.root, "home", ".trunkline");

  constructor(files: Record<string, unknown> = {}) {
    mkdirSync(join(this.cwd, ".git"), { recursive: true });
    mkdirSync(this.home, { recursive: true });
    for (const [path, content] of Object.entries(files)) this.write(path, content);
  }

  /**
   * Writes a file: strings as they are, everything else as JSON. Paths that start with `home/` are under the home
   * folder.
   */
  write(path: string, content: unknown, mode?: number): string {
    const file = path.startsWith("home/") ? join(this.home, path.slice(5)) : join(this.cwd, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content, null, 2));
    if (mode !== undefined) chmodSync(file, mode);
    return file;
  }

  load(options: Partial<LoadConfigOptions> = {}): Promise<LoadedConfig> {
    return loadConfig({ cwd: this.cwd, home: this.home, trustAll: true, ...options });
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Loads a text as the file named by `--mcp`. */
export async function loadText(
  text: unknown,
  options: Partial<LoadConfigOptions> & { as?: string } = {},
): Promise<LoadedConfig> {
  using place = new Place();
  const { as = "mcp.json", ...rest } = options;
  return await place.load({ mcpPath: place.write(as, text), ...rest });
}

/** Formats the diagnostics as `severity server field message`, for comparison. */
export function said(config: LoadedConfig): string[] {
  return config.diagnostics.map(({ severity, server, field, message }: Diagnostic) =>
    [severity, server, field, message].filter((part) => part !== undefined).join(" | "),
  );
}

export function server(config: LoadedConfig, name: string) {
  const found = config.servers.find((definition) => definition.name === name);
  if (found === undefined) throw new Error(`there is no server ${name}: ${said(config).join("\n")}`);
  return found;
}
