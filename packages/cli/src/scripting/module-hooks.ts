// Resolves and loads a script's modules. Node calls these hooks in this thread if it can (Node 22.15 or later),
// otherwise in a separate thread. They return whatever `next` returns, a value or a promise, so they work in both
// cases.
import { statSync } from "node:fs";
import type { MessagePort } from "node:worker_threads";
import { readSource, stripTypes } from "./strip-types.js";

/** Data for the hooks. It is passed between threads. */
export interface HookData {
  /** The running command's `trunkline` module. */
  readonly packageUrl: string;
  /** The script. `text` is set if it is not in a file. */
  readonly entry: { readonly url: string; readonly text?: string; readonly isTypeScript: boolean };
  /** Where the other thread answers; absent in the same thread. */
  readonly port?: MessagePort;
  /** Set to 1 when source maps are on. */
  readonly mapsOn?: Int32Array;
}

export type HookMessage = { readonly type: "maps" } | { readonly type: "loaded"; readonly url: string };

interface Resolved {
  url: string;
  format?: string | null;
  shortCircuit?: boolean;
}

interface ResolveContext {
  readonly parentURL?: string;
}

interface Loaded {
  format: string;
  source: string;
  shortCircuit: true;
}

const OWN_PACKAGE = /^@trunkline\/[a-z-]+(?:\/|$)/;
/** How long the thread waits for source maps to be turned on; without them only line numbers suffer. */
const MAPS_WAIT_MS = 1_000;

export function createHooks(data: HookData, tell: (message: HookMessage) => void) {
  const { entry, packageUrl } = data;
  return {
    resolve<T>(specifier: string, context: ResolveContext, next: (specifier: string, context: ResolveContext) => T) {
      if (specifier === "trunkline") return next(packageUrl, context);
      if (OWN_PACKAGE.test(specifier))
        return next(ownPackage(specifier, packageUrl), { ...context, parentURL: packageUrl });
      // The script is not in a file, or its file has no extension, so Node's own rules do not apply.
      if (specifier === entry.url) return { url: specifier, format: null, shortCircuit: true } satisfies Resolved;
      return next(presentFile(specifier, context.parentURL) ?? specifier, context);
    },

    load<T>(url: string, context: object, next: (url: string, context: object) => T): T | Loaded {
      const path = url.replace(/[?#].*$/, "");
      if (!path.startsWith("file:")) return next(url, context);
      if (path.endsWith(".json")) return { ...jsonModule(url), shortCircuit: true };
      const isEntry = url === entry.url;
      if (!path.includes("/node_modules/")) tell({ type: "loaded", url });
      if (isEntry ? !entry.isTypeScript : !/\.m?ts$/.test(path)) return next(url, context);
      const { code, isMapped } = stripTypes(isEntry && entry.text !== undefined ? entry.text : readSource(url), url);
      if (isMapped) {
        tell({ type: "maps" });
        // Node looks for a map when it gets the source, but only if source maps are on by then.
        if (data.mapsOn !== undefined) Atomics.wait(data.mapsOn, 0, 0, MAPS_WAIT_MS);
      }
      return { format: "module", source: code, shortCircuit: true };
    },
  };
}

/**
 * The bundled command contains our packages: `@trunkline/store/contract` is `store-contract.cjs` next to its own module,
 * `@trunkline/store-postgres` an ES module. A script gets those, so that its `TrunklineError` is the one that the command
 * throws.
 */
function ownPackage(specifier: string, packageUrl: string): string {
  if (!packageUrl.endsWith(".cjs")) return specifier;
  const name = specifier.replace("@trunkline/", "").replaceAll("/", "-");
  const candidates = [".cjs", ".mjs"].map((end) => new URL(name + end, packageUrl));
  return candidates.find((url) => statSync(url, { throwIfNoEntry: false }) !== undefined)?.href ?? specifier;
}

/**
 * For a relative import of a missing file, finds the file TypeScript means: `./a.js` stands for `a.ts`, and `./a` for
 * either.
 */
function presentFile(specifier: string, parentUrl: string | undefined): string | undefined {
  if (!/^\.{1,2}\//.test(specifier) || parentUrl === undefined || !parentUrl.startsWith("file:")) return undefined;
  const isThere = (name: string) => statSync(new URL(name, parentUrl), { throwIfNoEntry: false })?.isFile() ?? false;
  if (isThere(specifier)) return undefined;
  const swapped = specifier.replace(/\.(m?)js$/, ".$1ts");
  const candidates =
    swapped === specifier ? [".ts", ".mts", ".js", "/index.ts"].map((end) => specifier + end) : [swapped];
  return candidates.find(isThere);
}

/** Loads JSON without Node 20's warning. */
function jsonModule(url: string): Omit<Loaded, "shortCircuit"> {
  const text = readSource(url);
  try {
    JSON.parse(text);
  } catch (error) {
    throw new SyntaxError(`${new URL(url).pathname} is not JSON: ${error instanceof Error ? error.message : error}`);
  }
  return { format: "module", source: `export default JSON.parse(${JSON.stringify(text)});` };
}
