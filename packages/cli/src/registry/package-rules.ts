// How each kind of package is run, and what a registry may say about it. A name that could be an option, a version that
// is not one exact version, or an argument that changes what the runner does is refused.
import { isSafeUrl } from "./registry-address.js";
import type { RegistryArgument, RegistryPackage } from "./registry-server.js";

type PackageType = "npm" | "pypi" | "oci" | "nuget";

interface PackageRule {
  /** The program that downloads and runs the package. */
  readonly runner: string;
  /** Where the runner gets the package from; another address would mean another package. */
  readonly sources: RegExp;
  /** The words that name exactly one version, or why there are none. */
  readonly pin: (item: RegistryPackage) => Pin | { readonly problem: string };
  /** Arguments of the runner that it gets anyway. */
  readonly implied: readonly string[];
  /** Flags of the runner that a registry may set. */
  readonly flags: readonly string[];
}

interface Pin {
  /** The words after the runner, up to the package. */
  readonly words: readonly string[];
  /** The words between the package and its own arguments. */
  readonly after: readonly string[];
  /** What is pinned, as the package manager calls it: `name@1.2.3`. */
  readonly pinned: string;
  readonly hash?: string;
}

const SEMVER = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;
const NPM_NAME = /^(?:@[a-z0-9][a-z0-9._~-]*\/)?[a-z0-9][a-z0-9._~-]*$/i;
const PYPI_NAME = /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/i;
/** Letters with digits and separators between them. One way to match each text, or it takes exponential time. */
const PYPI_VERSION =
  /^(?:\d+!)?\d+(?:\.\d+)*(?:[._-]?[a-z]+(?:(?:[._-]{1,2}|[._-]?\d+[._-]?)[a-z]+)*[._-]?\d*)?(?:\+[a-z0-9.]+)?$/i;
const NUGET_NAME = /^[a-z0-9_][a-z0-9._-]*$/i;
const NUGET_VERSION = /^\d+(?:\.\d+){1,3}(?:-[0-9a-z.-]+)?$/i;
/** Host, path, tag and digest of an image. */
const IMAGE =
  /^([a-z0-9][a-z0-9.-]*(?::\d+)?(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*)(?::([\w][\w.-]{0,127}))?(?:@(sha256:[a-f0-9]{64}))?$/;

export const PACKAGE_RULES: Readonly<Record<PackageType, PackageRule>> = {
  npm: {
    runner: "npx",
    sources: /^https:\/\/registry\.npmjs\.org\/?$/,
    implied: ["-y", "--yes"],
    flags: [],
    pin: ({ identifier, version = "" }) => {
      if (!NPM_NAME.test(identifier)) return { problem: "its package name is not valid" };
      if (!SEMVER.test(version)) return { problem: "it does not name one exact version of the package" };
      const pinned = `${identifier}@${version}`;
      return { words: ["-y", pinned], after: [], pinned };
    },
  },
  pypi: {
    runner: "uvx",
    sources: /^https:\/\/pypi\.org\/?(?:simple\/?)?$/,
    implied: [],
    flags: [],
    pin: ({ identifier, version = "" }) => {
      if (!PYPI_NAME.test(identifier)) return { problem: "its package name is not valid" };
      if (!PYPI_VERSION.test(version)) return { problem: "it does not name one exact version of the package" };
      const pinned = `${identifier}@${version}`;
      return { words: [pinned], after: [], pinned };
    },
  },
  oci: {
    runner: "docker",
    sources: /^https:\/\/[a-z0-9.-]+(?::\d+)?\/?$/,
    implied: ["run", "-i", "--interactive", "--rm"],
    flags: [
      ...[
        "-e",
        "--env",
        "-v",
        "--volume",
        "--mount",
        "-p",
        "--publish",
        "--network",
        "-w",
        "--workdir",
        "-u",
        "--user",
      ],
      ...["--platform", "-m", "--memory", "--cpus", "--tmpfs"],
    ],
    pin: (item) => {
      const [, path = "", ownTag, digest] = IMAGE.exec(item.identifier) ?? [];
      const tag = ownTag ?? item.version;
      const host = item.baseUrl === undefined ? "" : new URL(item.baseUrl).host;
      if (path === "" || path.length > 255) return { problem: "the name of its image is not valid" };
      if (digest === undefined && (tag === undefined || tag === "latest" || !/^\w[\w.-]{0,127}$/.test(tag)))
        return { problem: "it does not name one exact version of the image" };
      // In older entries, the host is apart from the image.
      const isApart = host !== "" && !path.startsWith(`${host}/`);
      const name = `${isApart ? `${host}/` : ""}${path}${tag === undefined ? "" : `:${tag}`}`;
      const pinned = digest === undefined ? name : `${name}@${digest}`;
      return {
        words: ["run", "-i", "--rm", pinned],
        after: [],
        pinned,
        hash: digest,
      };
    },
  },
  nuget: {
    runner: "dnx",
    sources: /^https:\/\/api\.nuget\.org\/?(?:v3\/index\.json)?$/,
    implied: ["-y", "--yes"],
    flags: [],
    pin: ({ identifier, version = "" }) => {
      if (!NUGET_NAME.test(identifier)) return { problem: "its package name is not valid" };
      if (!NUGET_VERSION.test(version)) return { problem: "it does not name one exact version of the package" };
      const pinned = `${identifier}@${version}`;
      return { words: [pinned, "--yes"], after: ["--"], pinned };
    },
  },
};

export function isPackageType(type: string): type is PackageType {
  return Object.hasOwn(PACKAGE_RULES, type);
}

/** Says why a package cannot be used; undefined if it can. */
export function packageProblem(item: RegistryPackage): string | undefined {
  const { type, transport, runtimeHint, baseUrl, sha256 } = item;
  if (!isPackageType(type)) return `Trunkline cannot run packages of this kind`;
  if (transport !== "stdio")
    return "it is a server that listens on a port instead of stdio, and Trunkline does not start those";
  const rule = PACKAGE_RULES[type];
  if (runtimeHint !== undefined && runtimeHint !== rule.runner) return `it does not run with ${rule.runner}`;
  if (baseUrl !== undefined && !rule.sources.test(baseUrl))
    return `${rule.runner} would download it from another registry than the one it names`;
  if (sha256 !== undefined && !/^[a-f0-9]{64}$/.test(sha256)) return "its hash is not valid";
  const pin = rule.pin(item);
  if ("problem" in pin) return pin.problem;
  for (const argument of item.runtimeArguments) {
    const problem = runtimeProblem(rule, argument);
    if (problem !== undefined) return problem;
  }
  const badName = item.environment.find(({ name }) => !isHarmlessVariable(name));
  if (badName !== undefined) return "it sets an environment variable that decides what runs";
  const badFlag = item.packageArguments.find(({ kind, name }) => kind === "named" && !/^-{1,2}[\w.-]+$/.test(name));
  return badFlag === undefined ? undefined : "one of its arguments has an invalid name";
}

/** An argument of the runner can replace the package or open the machine to it. */
function runtimeProblem({ runner, implied, flags }: PackageRule, argument: RegistryArgument): string | undefined {
  if (isImplied(implied, argument)) return undefined;
  if (argument.kind === "named" && flags.includes(argument.name)) {
    // Each of them takes a value. Without one it would take the package's name, and what follows would be options.
    return argument.value === "" ? `it gives ${runner} a flag without its value` : undefined;
  }
  return `it gives ${runner} an argument that Trunkline does not allow`;
}

/** Whether an argument of the runner is part of every command line anyway. */
export function isImplied(implied: readonly string[], { kind, name, value, variables }: RegistryArgument): boolean {
  if (Object.keys(variables).length > 0) return false;
  return kind === "named" ? !value && implied.includes(name) : implied.includes(value ?? "");
}

/** Variables with which a publisher could change what the runner loads, or where from. */
const DECISIVE =
  /^(?:PATH|HOME|SHELL|IFS|ENV|BASH_ENV|NODE_(?:OPTIONS|PATH|EXTRA_CA_CERTS)|LD_.*|DYLD_.*|PYTHON(?:PATH|HOME|STARTUP)|NPM_.*|YARN_.*|UV_.*|PIP_.*|DOCKER_.*|DOTNET_.*|NUGET_.*|(?:HTTPS?|ALL|NO|FTP)_PROXY|SSL_CERT_.*|GIT_(?:SSH.*|CONFIG.*|EXEC_PATH)|TRUNKLINE_.*)$/i;

function isHarmlessVariable(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !DECISIVE.test(name);
}

/** Says why a URL, after its variables are filled in, cannot be used; undefined if it can. */
export function urlProblem(text: string): string | undefined {
  if (!URL.canParse(text) || /[\s\\{}]/.test(text)) return "its URL is not valid";
  return isSafeUrl(new URL(text)) ? undefined : "its URL is not https";
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** They belong to the connection, not to the server. */
const CONNECTION_HEADERS = /^(?:host|connection|content-length|transfer-encoding|upgrade|te|trailer|proxy-.*)$/i;

export function isHeaderAllowed(name: string): boolean {
  return HEADER_NAME.test(name) && !CONNECTION_HEADERS.test(name);
}
