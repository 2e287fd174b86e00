// The keychain of the operating system, through its own command: secret-tool, security, or PowerShell for the Windows
// Credential Manager. Each entry belongs to the service "trunkline".
import { TrunklineError } from "@trunkline/core";
import { type KeychainCommand, type KeychainOutcome, runKeychainCommand } from "./keychain-command.js";
import { isSecretNameValid } from "./secret-reference.js";

/** How commands are run. */
export type KeychainPlace = Pick<KeychainCommand, "env" | "cwd" | "signal"> & { readonly platform: string };

const SERVICE = "trunkline";

/** Marks values that `security` would print in hexadecimal otherwise, because they have line breaks or other letters. */
const ENCODED = "trunkline-base64:";

const UNLOCKED =
  "Is the keychain unlocked, and does this session have one? Over SSH and in containers there is often none.";

/** Longer values do not fit: into a line of `security -i`, and into an entry of the Credential Manager. */
const MOST_BYTES = 2_400;

interface KeychainTool {
  readonly title: string;
  readonly get: (name: string) => ToolCall;
  readonly set: (name: string, value: string) => ToolCall;
  readonly remove: (name: string) => ToolCall;
  /** Whether a failure only means that there is no such entry. */
  readonly isMissing: (outcome: KeychainOutcome) => boolean;
  readonly decode: (stdout: string) => string;
}

type ToolCall = Pick<KeychainCommand, "program" | "args"> & {
  readonly input?: string;
  readonly env?: { NAME: string };
};

function secretTool(...args: readonly string[]): ToolCall {
  return { program: "secret-tool", args };
}

const attributes = (name: string) => ["service", SERVICE, "name", name];

const LINUX: KeychainTool = {
  title: "the keyring (secret-tool)",
  get: (name) => secretTool("lookup", ...attributes(name)),
  set: (name, value) => ({ ...secretTool("store", `--label=Trunkline: ${name}`, ...attributes(name)), input: value }),
  remove: (name) => secretTool("clear", ...attributes(name)),
  // A missing entry and a missing keyring have the same exit code; only the latter is explained.
  isMissing: ({ code, complaint }) => code === 1 && complaint === "",
  decode: (stdout) => stdout,
};

const security = (...args: readonly string[]): ToolCall => ({ program: "security", args });

const MAC: KeychainTool = {
  title: "the keychain (security)",
  get: (name) => security("find-generic-password", "-s", SERVICE, "-a", name, "-w"),
  // Commands on stdin: arguments are visible to other programs.
  set: (name, value) => ({
    ...security("-i"),
    input: `add-generic-password -U -s ${SERVICE} -a ${name} -w ${ENCODED}${Buffer.from(value).toString("base64")}\n`,
  }),
  remove: (name) => security("delete-generic-password", "-s", SERVICE, "-a", name),
  isMissing: ({ code }) => code === 44,
  decode: (stdout) => {
    const text = stdout.replace(/\r?\n$/, "");
    return text.startsWith(ENCODED) ? Buffer.from(text.slice(ENCODED.length), "base64").toString("utf8") : text;
  },
};

/** The exit code of our scripts for a missing entry. */
const NOT_FOUND = 44;

/** The functions of the Credential Manager, which `cmdkey` cannot read. */
const CREDENTIALS = `
$ErrorActionPreference = 'Stop'
Add-Type -TypeDefinition @'
using System;
using System.Runtime.InteropServices;
public static class TrunklineCredentials {
  [StructLayout(LayoutKind.Sequential, CharSet = CharSet.Unicode)]
  struct Credential {
    public int Flags; public int Type; public string TargetName; public string Comment; public long LastWritten;
    public int BlobSize; public IntPtr Blob; public int Persist; public int AttributeCount; public IntPtr Attributes;
    public string TargetAlias; public string UserName;
  }
  [DllImport("advapi32.dll", EntryPoint = "CredReadW", CharSet = CharSet.Unicode, SetLastError = true)]
  static extern bool CredRead(string target, int type, int flags, out IntPtr credential);
  [DllImport("advapi32.dll", EntryPoint = "CredWriteW", CharSet = CharSet.Unicode, SetLastError = true)]
  static extern bool CredWrite(ref Credential credential, int flags);
  [DllImport("advapi32.dll", EntryPoint = "CredDeleteW", CharSet = CharSet.Unicode, SetLastError = true)]
  static extern bool CredDelete(string target, int type, int flags);
  [DllImport("advapi32.dll")] static extern void CredFree(IntPtr credential);
  public static int Error;
  static bool Noted(bool done) { if (!done) Error = Marshal.GetLastWin32Error(); return done; }
  public static byte[] Get(string target) {
    IntPtr found;
    if (!Noted(CredRead(target, 1, 0, out found))) return null;
    try {
      var credential = (Credential)Marshal.PtrToStructure(found, typeof(Credential));
      var bytes = new byte[credential.BlobSize];
      if (bytes.Length > 0) Marshal.Copy(credential.Blob, bytes, 0, bytes.Length);
      return bytes;
    } finally { CredFree(found); }
  }
  public static bool Set(string target, string user, byte[] bytes) {
    var blob = Marshal.AllocHGlobal(bytes.Length + 1);
    try {
      Marshal.Copy(bytes, 0, blob, bytes.Length);
      var credential = new Credential {
        Type = 1, TargetName = target, UserName = user, BlobSize = bytes.Length, Blob = blob, Persist = 2
      };
      return Noted(CredWrite(ref credential, 0));
    } finally { Marshal.FreeHGlobal(blob); }
  }
  public static bool Remove(string target) { return Noted(CredDelete(target, 1, 0)); }
}
'@
$target = '${SERVICE}/' + $env:NAME
function Stop-With($code) {
  if ($code -eq 1168) { exit ${NOT_FOUND} }
  [Console]::Error.Write('Windows error ' + $code); exit 1
}
`;

/** Values travel as base64, because the console has its own encoding. */
function powershell(name: string, script: string, input?: string): ToolCall {
  const encoded = Buffer.from(CREDENTIALS + script, "utf16le").toString("base64");
  const args = ["-NoProfile", "-NonInteractive", "-EncodedCommand", encoded];
  return { program: "powershell.exe", args, env: { NAME: name }, input };
}

const WINDOWS: KeychainTool = {
  title: "the Credential Manager",
  get: (name) =>
    powershell(
      name,
      `$bytes = [TrunklineCredentials]::Get($target)
if ($null -eq $bytes) { Stop-With ([TrunklineCredentials]::Error) }
[Console]::Out.Write([Convert]::ToBase64String($bytes))`,
    ),
  set: (name, value) =>
    powershell(
      name,
      `$bytes = [Convert]::FromBase64String([Console]::In.ReadToEnd().Trim())
if (-not [TrunklineCredentials]::Set($target, $env:NAME, $bytes)) { Stop-With ([TrunklineCredentials]::Error) }`,
      Buffer.from(value).toString("base64"),
    ),
  remove: (name) =>
    powershell(name, "if (-not [TrunklineCredentials]::Remove($target)) { Stop-With ([TrunklineCredentials]::Error) }"),
  isMissing: ({ code }) => code === NOT_FOUND,
  decode: (stdout) => Buffer.from(stdout.trim(), "base64").toString("utf8"),
};

function toolFor(platform: string): KeychainTool {
  if (platform === "darwin") return MAC;
  return platform === "win32" ? WINDOWS : LINUX;
}

/** The name of this system's keychain, for messages. */
export function keychainTitle(platform: string): string {
  return toolFor(platform).title;
}

/** Returns a secret; undefined if the keychain has none of this name. */
export async function readKeychain(name: string, place: KeychainPlace): Promise<string | undefined> {
  const tool = toolFor(place.platform);
  const outcome = await run(tool.get(checked(name)), place);
  if (outcome.code === 0) return tool.decode(outcome.stdout);
  if (tool.isMissing(outcome)) return undefined;
  throw failure(tool, outcome);
}

/** Saves a secret, replacing an earlier one. */
export async function writeKeychain(name: string, value: string, place: KeychainPlace): Promise<void> {
  const tool = toolFor(place.platform);
  if (Buffer.byteLength(value) > MOST_BYTES || value.includes("\0"))
    throw new TrunklineError("USAGE", `A secret can have at most ${MOST_BYTES} bytes, and no NUL character.`, {
      hint: "A longer one can come from 1Password (${op://…}) or, in your own settings, from a command (${cmd:…}).",
    });
  const outcome = await run(tool.set(checked(name), value), place);
  if (outcome.code !== 0) throw failure(tool, outcome);
  // `security -i` succeeds whatever its commands do.
  if ((await readKeychain(name, place)) !== value)
    throw new TrunklineError("IO", `${tool.title} did not save the secret "${name}".`, { hint: UNLOCKED });
}

/** Removes a secret; false if there is none of this name. */
export async function removeFromKeychain(name: string, place: KeychainPlace): Promise<boolean> {
  if ((await readKeychain(name, place)) === undefined) return false;
  const tool = toolFor(place.platform);
  const outcome = await run(tool.remove(name), place);
  if (outcome.code !== 0 && !tool.isMissing(outcome)) throw failure(tool, outcome);
  return true;
}

async function run({ env: more, ...call }: ToolCall, place: KeychainPlace): Promise<KeychainOutcome> {
  const { env, cwd, signal } = place;
  return await runKeychainCommand({ ...call, env: { ...env, ...more }, cwd, signal });
}

/** A name that looks like an option would be one to these programs. */
function checked(name: string): string {
  if (isSecretNameValid(name)) return name;
  throw new TrunklineError("USAGE", "That is not the name of a secret.", {
    hint: `A name starts with a letter or "_", followed by letters, digits, "_", "." and "-", for example GITHUB_TOKEN.`,
  });
}

function failure({ title }: KeychainTool, { code, complaint }: KeychainOutcome): TrunklineError {
  const reason = complaint === "" ? `exit code ${code}` : complaint;
  return new TrunklineError("CONFIG_INVALID", `${title} cannot be used: ${reason}`, {
    hint: UNLOCKED,
  });
}
