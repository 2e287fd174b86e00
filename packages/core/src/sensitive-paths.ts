// Files that a client needs the user's permission for, wherever they are: files that hold secrets (to read), and files
// that other programs execute or obey (to write). Recognised by name, in any spelling a file system accepts. Private keys
// are also recognised by how they begin, because people name them as they like.
import { comparableName } from "./guarded-paths.js";

/** Files and folders of secrets by name. A folder stands for everything in it. */
const SECRET_NAMES = new Set([
  // Credentials of command-line tools.
  ".netrc",
  "_netrc",
  ".npmrc",
  ".pgpass",
  ".my.cnf",
  ".pypirc",
  ".git-credentials",
  ".dockercfg",
  ".vault-token",
  ".terraformrc",
  ".s3cfg",
  ".boto",
  ".htpasswd",
  ".vault_pass",
  ".authinfo",
  ".authinfo.gpg",
  ".databrickscfg",
  ".dev.vars",
  ".flaskenv",
  ".credentials.json",
  "rclone.conf",
  "wallet.dat",
  "secring.gpg",
  "google_compute_engine",
  "application_default_credentials.json",
  "oauth_creds.json",
  // Folders of keys and credentials.
  ".aws",
  ".azure",
  ".ssh",
  ".gnupg",
  ".kube",
  ".password-store",
  // Browser profiles and what is in them.
  ".mozilla",
  ".librewolf",
  ".thunderbird",
  "cookies.sqlite",
  "logins.json",
  "key4.db",
  "login data",
]);

/** The same for names that are ordinary elsewhere. */
const SECRET_PATHS = [
  ".docker/config.json",
  ".codex/auth.json",
  ".oci/config",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".gem/credentials",
  ".terraform.d/credentials.tfrc.json",
  ".config/gcloud",
  ".config/gh",
  ".config/containers/auth.json",
  ".config/hub",
  ".config/op",
  ".local/share/keyrings",
  ".local/share/kwalletd",
  "library/keychains",
  ".config/google-chrome",
  ".config/google-chrome-beta",
  ".config/google-chrome-unstable",
  ".config/chromium",
  ".config/bravesoftware",
  ".config/microsoft-edge",
  ".config/vivaldi",
  ".config/opera",
  "snap/chromium",
  "snap/firefox",
  "application support/arc",
  "application support/google/chrome",
  "application support/chromium",
  "application support/firefox",
  "application support/bravesoftware",
  "application support/microsoft edge",
  "library/safari",
  "library/cookies",
  "appdata/local/google/chrome",
  "appdata/local/microsoft/edge",
  "appdata/local/bravesoftware",
  "appdata/roaming/mozilla",
].map((path) => path.split("/"));

const SECRET_PATH_ENDS = new Set(SECRET_PATHS.map((path) => path.at(-1)));

const SECRET_PATTERNS = [
  // .env, .env.local, .envrc, prod.env
  /^\.env/,
  /.\.env$/,
  // id_rsa, id_ed25519_work, id_rsa.bak; not id_rsa.pub or id_rsa_test.go
  /^id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?:[_-][^.]*)?(?:\.(?:bak|backup|old|orig|\d+))?$/,
  /^ssh_host_.*_key$/,
  /\.(?:key|pem|p12|pfx|pkcs12|p8|ppk|jks|keystore|kdbx|keychain|keychain-db)$/,
  /^\..+_history$/,
  // Terraform writes passwords and keys into its state as they are; terraform.tfstate.backup and .1700000000.backup too.
  /\.tfstate(?:\.\d+)?$/,
];

/** Examples are written to be shared. */
const SHARED = /^(?:\.env.*\.(?:example|sample|template|dist)|(?:example|sample|template)\.env)$/;

/** Files and folders that programs execute or obey as soon as they exist. */
const OBEYED_NAMES = new Set([
  // Editors and agents: servers, hooks, tasks, instructions.
  ".mcp.json",
  "mcp.json",
  "mcp.jsonc",
  "mcp_config.json",
  "claude_desktop_config.json",
  "cline_mcp_settings.json",
  ".vscode",
  ".cursor",
  ".claude",
  ".claude.json",
  ".codex",
  ".gemini",
  ".windsurf",
  ".codeium",
  ".vscode-insiders",
  ".vscode-server",
  ".vscodium",
  ".theia",
  ".trae",
  ".augment",
  ".qodo",
  ".warp",
  ".rules",
  "agent.md",
  "crush.json",
  ".crush.json",
  ".idea",
  ".zed",
  ".fleet",
  ".vs",
  ".continue",
  ".roo",
  ".cline",
  ".amazonq",
  ".kiro",
  ".junie",
  ".goose",
  ".opencode",
  "opencode.json",
  "opencode.jsonc",
  ".aider.conf.yml",
  ".aider.conf.yaml",
  ".devcontainer",
  ".devcontainer.json",
  "claude.md",
  "claude.local.md",
  "agents.md",
  "agents.override.md",
  "gemini.md",
  ".cursorrules",
  ".windsurfrules",
  ".clinerules",
  ".goosehints",
  "copilot-instructions.md",
  // Git hooks and settings, and other version control; `.git` itself is reserved.
  ".hg",
  ".jj",
  ".svn",
  ".husky",
  ".githooks",
  ".gitconfig",
  ".gitmodules",
  ".lefthook",
  "lefthook.yml",
  "lefthook.yaml",
  ".lefthook.yml",
  ".lefthook.yaml",
  ".pre-commit-config.yaml",
  ".pre-commit-config.yml",
  // CI.
  ".gitlab-ci.yml",
  ".gitlab-ci.yaml",
  ".circleci",
  ".buildkite",
  ".woodpecker",
  ".woodpecker.yml",
  ".drone.yml",
  ".travis.yml",
  ".cirrus.yml",
  ".semaphore",
  ".teamcity",
  "azure-pipelines.yml",
  "azure-pipelines.yaml",
  "bitbucket-pipelines.yml",
  "appveyor.yml",
  ".appveyor.yml",
  "jenkinsfile",
  ".tekton",
  ".azure-pipelines",
  ".pipelines",
  ".builds",
  ".build.yml",
  "buildspec.yml",
  "buildspec.yaml",
  "cloudbuild.yaml",
  "cloudbuild.yml",
  "codemagic.yaml",
  "wercker.yml",
  "bitrise.yml",
  ".cirrus.star",
  // Shells and programs that read a start-up file.
  ".profile",
  ".login",
  ".logout",
  ".inputrc",
  ".direnvrc",
  ".rvmrc",
  ".xonshrc",
  ".pam_environment",
  ".psqlrc",
  ".sqliterc",
  ".rprofile",
  ".renviron",
  ".ghci",
  ".pdbrc",
  ".octaverc",
  ".mailcap",
  ".vim",
  ".xinitrc",
  ".xprofile",
  ".xsession",
  ".xsessionrc",
  ".oh-my-zsh",
  ".vimrc",
  ".gvimrc",
  ".exrc",
  ".nvimrc",
  ".nvim.lua",
  ".emacs",
  ".emacs.d",
  ".dir-locals.el",
  ".gdbinit",
  ".lldbinit",
  ".irbrc",
  ".pryrc",
  ".pythonrc",
  ".screenrc",
  ".tmux.conf",
  ".curlrc",
  ".wgetrc",
  // Package managers: registries, hooks, programs to run.
  ".yarnrc",
  ".yarnrc.yml",
  ".pnpmfile.cjs",
  ".pnp.cjs",
  ".pnp.loader.mjs",
  "bunfig.toml",
  ".bazelrc",
  ".condarc",
  ".pydistutils.cfg",
  "pip.ini",
  "pip.conf",
  ".pip",
  ".mise.toml",
  "mise.toml",
  "authorized_keys",
  "launchagents",
  "launchdaemons",
]);

const OBEYED_PATHS = [
  ".github/workflows",
  ".github/actions",
  ".github/instructions",
  ".github/hooks",
  ".gitea/workflows",
  ".gitea/actions",
  ".forgejo/workflows",
  ".forgejo/actions",
  ".gitlab/ci",
  ".yarn/releases",
  ".yarn/plugins",
  ".gradle/init.gradle",
  ".m2/settings.xml",
  ".cargo/config",
  ".cargo/config.toml",
  ".bundle/config",
  ".config/fish",
  ".config/direnv",
  ".config/nushell",
  ".config/powershell",
  ".config/environment.d",
  ".config/code/user",
  ".config/cursor/user",
  "application support/code/user",
  "application support/cursor/user",
  ".config/git",
  ".config/nvim",
  ".config/systemd",
  ".config/autostart",
  ".config/zed",
  "appdata/roaming/zed",
  ".config/opencode",
  ".config/mise",
  ".local/bin",
].map((path) => path.split("/"));

const OBEYED_PATTERNS = [
  // .bashrc, .zshenv, .bash_profile, .zshrc.local …
  /^\.(?:ba|z|k|mk|c|tc|da|fi)?sh(?:rc|env|_profile|_login|_logout|_aliases)(?:\..+)?$/,
  /^\.z(?:profile|login|logout)$/,
  /profile\.ps1$/,
  /\.code-workspace$/,
  // Prompts that Trunkline serves.
  /^prompt-.*\.md$/,
];

/**
 * Whether a path names secrets: private keys, credentials, `.env` files, browser profiles, keychains. Only the parts of
 * the path count, so pass a path relative to a folder to judge what is inside it.
 */
export function isSensitiveToRead(path: string): boolean {
  const parts = partsOf(path);
  return hasName(parts, SECRET_NAMES) || hasPath(parts, SECRET_PATHS) || parts.some(isSecretName);
}

/**
 * {@link isSensitiveToRead} for a name in a folder that is known not to be sensitive: only the name, and paths that end
 * with it, count. Much cheaper for the many files of a folder.
 */
export function isSensitiveInFolder(folder: string, name: string): boolean {
  const own = comparableName(name);
  if (SECRET_NAMES.has(own) || isSecretName(own)) return true;
  // On Windows a backslash separates names.
  return (SECRET_PATH_ENDS.has(own) || name.includes("\\")) && isSensitiveToRead(`${folder}/${name}`);
}

/** How many bytes {@link beginsPrivateKey} needs. */
export const TELLING_BYTES = 128;

/** Whether a file that begins with these bytes is a private key. Text that merely mentions one begins differently. */
export function beginsPrivateKey(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, TELLING_BYTES)).toString("utf8");
  return /^\s*(?:-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d)/.test(text);
}

/**
 * Whether other programs would execute or obey a file at this path: settings of editors and agents, hooks, CI
 * workflows, shell profiles. Files of secrets count too, since they decide which account and host a program uses.
 */
export function isSensitiveToWrite(path: string): boolean {
  const parts = partsOf(path);
  if (hasName(parts, OBEYED_NAMES) || hasPath(parts, OBEYED_PATHS)) return true;
  // Git takes every folder with a file called HEAD, objects and refs for a repository, and runs what its config says.
  if (parts.at(-1) === "head") return true;
  return parts.some((part) => OBEYED_PATTERNS.some((pattern) => pattern.test(part))) || isSensitiveToRead(path);
}

/** What editors and people add to the name of a copy: `.npmrc~`, `.netrc.bak`, `server.pem.old`. */
const COPY = /(?:~|\.(?:bak|backup|old|orig|save|swp|\d+))$/;

function isSecretName(part: string): boolean {
  if (SHARED.test(part)) return false;
  const original = part.replace(COPY, "");
  return SECRET_PATTERNS.some((pattern) => pattern.test(part) || pattern.test(original)) || SECRET_NAMES.has(original);
}

function hasName(parts: readonly string[], names: ReadonlySet<string>): boolean {
  return parts.some((part) => names.has(part));
}

/** Whether one of the paths occurs among the parts, in a row. */
function hasPath(parts: readonly string[], paths: readonly (readonly string[])[]): boolean {
  return paths.some((path) => parts.some((_, at) => path.every((part, offset) => parts[at + offset] === part)));
}

function partsOf(path: string): string[] {
  return path.split(/[\\/]+/).flatMap((part) => (part === "" || part === "." ? [] : [comparableName(part)]));
}
