// Which registry is asked. The user decides: an option, the environment, or their own settings; never a project's files.
import { readUserSettings } from "@trunkline/config";
import { redactedUrl, TrunklineError } from "@trunkline/core";

const DEFAULT_REGISTRY = "https://registry.modelcontextprotocol.io";

interface AddressPlace {
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Trunkline's home. */
  readonly home: string;
  readonly signal: AbortSignal;
}

/** Returns the address to use. `option` is the value of `--registry`. */
export async function registryAddress(option: string | undefined, place: AddressPlace): Promise<URL> {
  if (option !== undefined) return checkedAddress(option, "--registry");
  const { TRUNKLINE_REGISTRY: variable } = place.env;
  if (variable) return checkedAddress(variable, "TRUNKLINE_REGISTRY");
  const { registry } = await readUserSettings(place.home, place.signal);
  return checkedAddress(registry ?? DEFAULT_REGISTRY, '"registry" in your settings');
}

function checkedAddress(text: string, source: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && isSafeUrl(url) && url.search === "" && url.hash === "") return url;
  throw new TrunklineError("USAGE", `${source} is not the address of a registry: ${redactedUrl(text)}.`, {
    hint: `It has to be an https address without a user name, such as ${DEFAULT_REGISTRY}; http works on this machine only.`,
  });
}

/** Whether traffic cannot be read or changed in transit: https, or this machine. No user name can pose as a host. */
export function isSafeUrl({ protocol, hostname, username, password }: URL): boolean {
  if (username !== "" || password !== "") return false;
  return protocol === "https:" || (protocol === "http:" && isLoopbackHost(hostname));
}

function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
}
