// Finds secrets that are written out in URLs and command lines: passwords in URLs, values of `--api-key`, tokens with a
// known prefix, long random strings. Redaction by value (redaction.ts) needs to know a secret; this is how it learns
// about those that do not come from a variable, a header or an input.

import { hasControls } from "./safe-text.js";

/** Replaces a secret. */
export const REDACTED = "<redacted>";

/** What a text reveals. */
interface Finding {
  /** The parts to hide, in order, as offsets. */
  readonly hidden: (readonly [start: number, end: number])[];
  /** The secrets by themselves, to be recognised elsewhere. A value such as "docs" is hidden only in its place. */
  readonly values: string[];
}

interface FindOptions {
  /** For a question about what may run: neither a host nor anything that can be a program is hidden. */
  readonly forApproval?: boolean;
}

/**
 * Hides the secrets in a URL: user and password, query values, and long random path segments. The rest stays readable,
 * so a wrong host can be seen. Variables (`${NAME}`) stay as they are.
 */
export function redactedUrl(url: string): string {
  return withoutHidden(url, inUrl(url, { from: 0, to: url.length }));
}

/** Hides the secrets in the words of a command line, including those in URLs. */
export function redactedArgs(args: readonly string[]): string[] {
  return args.map((arg, at) => withoutHidden(arg, inArg(arg, args[at - 1] ?? "", {})));
}

/** Replaces a secret in a question about what may run. Its length says how much is not shown. */
export function maskedSecret(secret: string): string {
  const { length } = [...secret];
  return `<redacted: ${length} character${length === 1 ? "" : "s"}>`;
}

/**
 * {@link redactedUrl} for a question about what may run. The host is always shown. A URL that could have another host
 * than it seems is shown in full.
 */
export function urlForApproval(url: string): string {
  return withoutHidden(url, inUrl(url, { from: 0, to: url.length, forApproval: true }), maskedSecret);
}

/**
 * Shows the value of an environment variable in a question about what may run: tokens and passwords are masked, but
 * neither paths nor hosts, even if the name says that the value is a secret. Commands and arguments are never masked: a package can have a name that looks like a token.
 */
export function valueForApproval(name: string, value: string): string {
  if (isSecretName(name)) return secretForApproval(value);
  const found = CODE_VARIABLE.test(name) ? urlsIn(value) : inArg(value, "", { forApproval: true });
  return withoutHidden(value, found, maskedSecret);
}

/** A file of credentials can name a program, and a URL can be where data goes. */
function secretForApproval(value: string): string {
  if (/^(?:https?:|[a-z][a-z\d+.-]*:[\\/]{2})/i.test(value)) return urlForApproval(value);
  // A password in base64 can begin like a path.
  const isShown = FILE_NAME.test(value) || (isPath(value) && !isRandom(value, MIN_RANDOM_ARG));
  return isShown ? value : maskedSecret(value);
}

/** Returns the secrets in a URL that can be recognised by themselves. */
export function secretsInUrl(url: string): string[] {
  return [...new Set(inUrl(url, { from: 0, to: url.length }).values)];
}

/** Returns the secrets in the words of a command line that can be recognised by themselves. */
export function secretsInArgs(args: readonly string[]): string[] {
  return [...new Set(args.flatMap((arg, at) => inArg(arg, args[at - 1] ?? "", {}).values))];
}

/** Whether a name, such as `API_KEY`, `--access-token` or `clientSecret`, says that its value is a secret. */
export function isSecretName(name: string): boolean {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter(Boolean);
  const last = words.at(-1) ?? "";
  if (words.some((word) => /^(?:max|min|num|count|limit|per)$/.test(word))) return false;
  if (/(?:password|passwd|passphrase|secret|tokens?|apikey|credentials?)$/.test(last)) return true;
  if (SECRET_WORDS.has(last)) return true;
  return last === "key" && (words.length === 1 || KEY_OWNERS.has(words.at(-2) ?? ""));
}

const SECRET_WORDS = new Set(
  "pass pwd pat jwt bearer authorization auth cookie signature sig dsn sas accesskey secretkey privatekey".split(" "),
);
const KEY_OWNERS = new Set(
  "api app access account admin anon auth client encryption license master private project role secret service shared signing subscription user webhook".split(
    " ",
  ),
);

/** Tokens that their issuer marks with a prefix. */
const KNOWN_TOKEN = new RegExp(
  [
    String.raw`gh[opsur]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}`,
    String.raw`sk-[\w-]{12,}|(?:sk|rk|pk|whsec)_(?:live_|test_)?[A-Za-z\d]{16,}|xox[a-z]-[\w-]{10,}|xapp-[\w-]{10,}`,
    String.raw`A(?:KI|SI)A[A-Z\d]{16}|AIza[\w-]{30,}|ya29\.[\w-]{16,}|EAA[A-Za-z\d]{30,}`,
    String.raw`(?:npm|hf|dop_v1|lin_api|ntn|secret|sbp|gsk|r8|re|figd|shp[a-z]{2}|tvly|pplx|dckr_pat|doo_v1|fc|ctx7sk|pat|apify_api|pul|xai|sntrys|sntryu|atlasv1|ATATT\w{0,4}|PMAK|rnd|cal_live|phx|phc|nfp|vercel|exa|jina|co|bsa)[_-][\w-]{16,}`,
    String.raw`pypi-[\w-]{16,}|SG\.[\w-]{10,}\.[\w-]{10,}|\d{6,12}:[\w-]{30,}|v1\.[a-f\d]{20,}`,
    String.raw`eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?`,
  ].join("|"),
);
const TOKEN_IN_TEXT = new RegExp(`(?<![\\w-])(?:${KNOWN_TOKEN.source})`, "g");
const WHOLE_TOKEN = new RegExp(`^(?:${KNOWN_TOKEN.source})$`);
/** Anything shorter can be guessed, and is often a name. */
const MIN_RANDOM_ARG = 20;
const MIN_RANDOM_SEGMENT = 16;
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
/** Values that say nothing, whatever their name. */
const PLAIN_VALUE = /^(?:|true|false|yes|no|on|off|none|null|\d{1,3})$/i;
/** `${NAME}`, `$NAME` or `<your token>`: names a secret, but is none. */
const PLACEHOLDER = /^(?:\$\{[^{}]*\}|\$[A-Z_][A-Z\d_]*|<[^<>]*>)$/;
const DEFAULT_START = /\$\{[^{}]*?:-/y;
const URL_IN_TEXT = /(?<![a-z\d+.-])[a-z][a-z\d+.-]{0,40}:[\\/]{2}[^\s"'`<>]+/gi;
const HEADER_OPTION = /^(?:-H|--headers?)$/;
const PLAIN_HEADER = /^(?:accept|accept-\w+|content-type|user-agent|host|origin|mcp-protocol-version)$/i;
/** Prefixes of options whose value is a hash of something public. */
const HASH_OPTION = /(?:^|[-_])(?:commit|rev|revision|ref|sha\d*|hash|digest|checksum|integrity|version|tag|branch)$/i;

/** Variables that decide what runs: of their values, only what URLs contain is masked. */
const CODE_VARIABLE =
  /^(?:PATH|ENV|BASH_ENV|SHELL|EDITOR|VISUAL|PAGER|BROWSER|NODE_\w+|NPM_CONFIG_\w+|(?:LD|DYLD|UV|PIP|BUN|DENO|COREPACK|PERL|PERL5|RUBY|BUNDLE|_?JAVA|JDK|GIT|SSH)_?\w*|PYTHON\w*|PERL5\w*|RUBY\w*|CLASSPATH|CARGO_\w+|\w*(?:_HOOKS|_WRAPPER|FLAGS|_OPTS|_OPTIONS|_PACKAGE))$/i;
/** The name of a file by itself, with the ending of a program or of what programs read. */
const FILE_NAME =
  /^[\w@+-][\w@.+-]*\.(?:[cm]?[jt]sx?|json[5c]?|ya?ml|toml|ini|cfg|conf|env|txt|pem|key|crt|cer|p12|pfx|jks|py[cz]?|rb|pl|php|lua|sh|bash|zsh|ps1|bat|cmd|exe|dll|so|dylib|jar|node|wasm)$/i;

/** A long string of letters and digits that reads like nothing: its words are three characters long on average. */
function isRandom(text: string, minLength: number): boolean {
  if (text.length < minLength || !/^[A-Za-z\d_+/=~-]+$/.test(text)) return false;
  const runs = text.match(/[A-Za-z\d]+/g) ?? [];
  if (runs.some(isRandomRun)) return true;
  if (runs.every(({ length }) => length < 10)) return false;
  const pieces = text.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? [];
  const letters = text.match(/[A-Za-z]/g)?.length ?? 0;
  const digits = text.match(/\d/g)?.length ?? 0;
  if (letters < 3 || pieces.length < 5) return false;
  return (letters + digits) / pieces.length <= (text.length >= 28 ? 3.4 : 3);
}

/** The same for a run without separators, which needs less evidence: words are seldom that long. */
function isRandomRun(run: string): boolean {
  if (run.length < 20) return false;
  if (/^\d+$/.test(run)) return run.length >= 24;
  const pieces = run.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? [];
  const numbers = run.match(/\d+/g) ?? [];
  if (numbers.length >= 3 && run.length / pieces.length <= 5) return true;
  // No language has so many consonants in a row, so often.
  const rows = run.match(/[bcdfghjklmnpqrstvwxz]{4,}/gi) ?? [];
  return rows.join("").length >= run.length / 2;
}

function isKnownToken(text: string): boolean {
  return WHOLE_TOKEN.test(text);
}

function isTelling(text: string, minLength: number): boolean {
  return isKnownToken(text) || isRandom(text, minLength);
}

/** Collects what a text reveals; offsets are those of the whole text. */
class Findings implements Finding {
  readonly hidden: (readonly [number, number])[] = [];
  readonly values: string[] = [];

  /** Hides `text`, which starts at `start`. Of `${NAME:-default}` only the default is hidden. */
  hide(text: string, start: number, { isTelling: telling }: { isTelling: boolean }): void {
    const [from, to] = defaultIn(text);
    const literal = text.slice(from, to);
    if (literal === "" || PLACEHOLDER.test(literal)) return;
    this.hidden.push([start + from, start + to]);
    if (telling) this.tell(literal);
  }

  tell(text: string): void {
    if (text === "" || PLACEHOLDER.test(text)) return;
    this.values.push(text, ...decoded(text));
  }
}

/** Where the default of `${NAME:-default}` is, also of one in another; otherwise all of the text. */
function defaultIn(text: string): [from: number, to: number] {
  let [from, to] = [0, text.length];
  while (text[to - 1] === "}") {
    DEFAULT_START.lastIndex = from;
    if (!DEFAULT_START.test(text) || DEFAULT_START.lastIndex >= to - 1) break;
    from = DEFAULT_START.lastIndex;
    to--;
  }
  return [from, to];
}

function decoded(text: string): string[] {
  if (!text.includes("%")) return [];
  try {
    return [decodeURIComponent(text)];
  } catch {
    return [];
  }
}

function withoutHidden(text: string, { hidden }: Finding, mask: (secret: string) => string = () => REDACTED): string {
  const spans: [start: number, end: number][] = [];
  for (const [start, end] of [...hidden].sort(([a], [b]) => a - b)) {
    const last = spans.at(-1);
    if (last !== undefined && start < last[1]) last[1] = Math.max(last[1], end);
    else spans.push([start, end]);
  }
  let shown = "";
  let done = 0;
  for (const [start, end] of spans) {
    shown += `${text.slice(done, start)}${mask(text.slice(start, end))}`;
    done = end;
  }
  return shown + text.slice(done);
}

interface UrlPlace extends FindOptions {
  readonly from: number;
  readonly to: number;
}

/** Reads a URL by hand: it can contain `${NAME}`, which is not valid everywhere in a URL. */
function inUrl(text: string, { from, to, forApproval = false }: UrlPlace): Findings {
  const found = new Findings();
  if (forApproval && isUnclear(text.slice(from, to))) return found;
  const scheme = /^(?:https?:[\\/]*|[a-z][a-z\d+.-]*:[\\/]{2})/i.exec(text.slice(from, to))?.[0] ?? "";
  const rest = text.slice(from + scheme.length, to);
  const start = from + scheme.length;
  const authority = scheme === "" ? "" : forApproval ? properAuthority(rest) : authorityOf(rest);
  const at = authority.lastIndexOf("@");
  if (at !== -1) inUserInfo(found, authority.slice(0, at), start);
  let place = start + authority.length;
  const [, path = "", query = "", fragment = ""] =
    /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(rest.slice(authority.length)) ?? [];
  inPath(found, path, place);
  place += path.length;
  inQuery(found, query, place);
  inQuery(found, fragment, place + query.length);
  return found;
}

/** The part up to the path. A password can contain "/", which is wrong but common; a port is a number. */
function authorityOf(rest: string): string {
  const proper = properAuthority(rest);
  if (proper.includes("@") || !/:(?!\d*$)/.test(proper.replace(/\$\{[^{}]*\}|\[[^\]]*\]/g, "x"))) return proper;
  const at = rest.lastIndexOf("@");
  return at < proper.length ? proper : rest.slice(0, at + 1) + authorityOf(rest.slice(at + 1));
}

function properAuthority(rest: string): string {
  return /^(?:\$\{[^{}]*\}|[^\\/?#])*/.exec(rest)?.[0] ?? "";
}

/**
 * Whether a URL's host cannot be told from its text: a variable in its first part can end the host or leave it to what
 * follows, and parsers drop control characters.
 */
function isUnclear(url: string): boolean {
  const scheme = /^[a-z][a-z\d+.-]*:[\\/]*/i.exec(url)?.[0];
  if (scheme === undefined || hasControls(url)) return true;
  return properAuthority(url.slice(scheme.length)).includes("${");
}

function inUserInfo(found: Findings, userInfo: string, start: number): void {
  const [, user = "", password] = /^((?:\$\{[^{}]*\}|[^:])*)(?::(.*))?$/s.exec(userInfo) ?? [];
  const literal = [user, password ?? ""].filter((part) => part !== "" && !PLACEHOLDER.test(part));
  if (literal.length === 0) return;
  found.hidden.push([start, start + userInfo.length]);
  found.tell(password ?? "");
  // "https://token@host" has no password: the user is the secret.
  if (!password || isTelling(user, MIN_RANDOM_SEGMENT)) found.tell(user);
}

function inPath(found: Findings, path: string, start: number): void {
  let place = start;
  let before = "";
  for (const segment of path.split(/([\\/;])/)) {
    const named = /^[\w.-]+=/.exec(segment)?.[0] ?? "";
    const value = segment.slice(named.length);
    const [plain = value] = decoded(value);
    const isKey = isSecretName(before) && value.length >= 8 && /\d/.test(value);
    if (isKey || (named !== "" && isSecretName(named.slice(0, -1))) || isSecretSegment(plain))
      found.hide(value, place + named.length, { isTelling: true });
    if (segment !== "/" && segment !== "\\") before = segment;
    place += segment.length;
  }
}

/** A UUID in a path is usually what grants access: "https://mcp.example.com/u/<uuid>/sse". */
function isSecretSegment(segment: string): boolean {
  // "repository@<commit>"
  const text = segment.replace(/(?<=.)@[\da-f]{7,64}$/, "");
  return (
    UUID.test(text) || text.split(/[:.@,~]/).some((part) => isTelling(part, MIN_RANDOM_SEGMENT)) || isKnownToken(text)
  );
}

/** A query or a fragment, with its first character. Only values that say nothing are shown. */
function inQuery(found: Findings, query: string, start: number): void {
  let place = start;
  for (const piece of query.split(/([?#&;])/)) {
    const equals = piece.indexOf("=");
    const name = piece.slice(0, Math.max(0, equals));
    const value = piece.slice(equals + 1);
    const [plain = value] = decoded(value);
    const telling = isTelling(plain, MIN_RANDOM_SEGMENT) || UUID.test(plain);
    if (equals === -1 ? telling : isSecretName(name) || !PLAIN_VALUE.test(value))
      found.hide(value, place + equals + 1, { isTelling: telling || isSecretName(name) });
    place += piece.length;
  }
}

function inArg(arg: string, previous: string, { forApproval = false }: FindOptions): Findings {
  const found = new Findings();
  const hide = (text: string, start: number) => {
    if (!forApproval || !canBeProgram(text)) found.hide(text, start, { isTelling: true });
  };
  merge(found, urlsIn(arg, { forApproval }));
  const place = { text: arg, withoutUrls: withoutUrls(arg) };
  for (const { 0: token, index } of arg.matchAll(TOKEN_IN_TEXT))
    if (!forApproval || !isInPath(place, index, token)) found.hide(token, index, { isTelling: true });
  if (HEADER_OPTION.test(previous) || /^(?:-H|--headers?=)[\w-]+:/.test(arg)) inHeader(found, arg, hide);
  else if (/^-{1,2}[A-Za-z]/.test(previous) && !previous.includes("=") && isSecretName(previous)) {
    if (isSecretValue(arg, previous)) hide(arg, 0);
  } else if (/^(?:-u|--user)$/.test(previous)) {
    const colon = arg.indexOf(":");
    if (colon !== -1 && !/^\d+:\d+$/.test(arg)) hide(arg.slice(colon + 1), colon + 1);
  }
  inConnectionString(arg, hide);
  inPairs(arg, hide);
  if (!isPath(arg) && !HASH_OPTION.test(previous)) inWords(found, place, { forApproval });
  return found;
}

function urlsIn(arg: string, { forApproval = true }: FindOptions = {}): Findings {
  const found = new Findings();
  for (const { 0: url, index } of arg.matchAll(URL_IN_TEXT))
    merge(found, inUrl(arg, { from: index, to: index + url.length, forApproval }));
  return found;
}

/** Whether a value can be a path, a file, a URL or code. */
function canBeProgram(value: string): boolean {
  const bare = value.replace(/^(?:Bearer|Basic|Token) /i, "");
  return !/^[\w.~+/=:@%$^*!-]+$/.test(bare) || isPath(bare) || /^[./]|:\/\/|\.[a-z\d]{1,4}$/i.test(bare);
}

/** A text in which words are looked for. */
interface WordPlace {
  readonly text: string;
  /** The text with spaces in place of its URLs, so that each word is looked up, and not each URL for each word. */
  readonly withoutUrls: string;
}

function withoutUrls(text: string): string {
  return text.replace(URL_IN_TEXT, (url) => " ".repeat(url.length));
}

/** Whether a word, which does not begin with a space, is a part of a URL. */
function isInUrl({ withoutUrls: outside }: WordPlace, at: number): boolean {
  return outside[at] === " ";
}

/** Whether a word is a part of a path, or of a URL, in which the host is shown. */
function isInPath(place: WordPlace, at: number, word: string): boolean {
  const { text } = place;
  return /[\\/.]/.test(`${text[at - 1] ?? ""}${text[at + word.length] ?? ""}`) || isInUrl(place, at);
}

function merge(found: Findings, more: Findings): void {
  for (const span of more.hidden) found.hidden.push(span);
  for (const value of more.values) found.values.push(value);
}

/** Whether the word after a secret's option is its value. */
function isSecretValue(value: string, name: string): boolean {
  // A token can begin with "-"; an option has no digits and capital letters, unless it is short.
  if (PLAIN_VALUE.test(value) || /^-{1,2}(?:[A-Za-z]|[a-z]+(?:-[a-z]+)*)(?:=.*)?$/s.test(value)) return false;
  // `--auth oauth` names a method, `--key ./server.pem` a file.
  if (/auth$/i.test(name) && /^[a-z]{1,8}$/.test(value)) return false;
  return !(/(?:key|credentials?|cookie)$/i.test(name) && isPath(value));
}

/** `Authorization: Bearer …`: hides the value; the credential without its scheme is a secret too. */
function inHeader(found: Findings, arg: string, hide: (text: string, start: number) => void): void {
  const [, before = "", name = "", value = ""] = /^((?:-H|--headers?=)?([\w-]+):\s*)(.*)$/s.exec(arg) ?? [];
  if (name === "" || PLAIN_HEADER.test(name)) return;
  const scheme = /^[A-Za-z][\w-]*\s+(?=\S+$)/.exec(value)?.[0] ?? "";
  // Of "Bearer ${TOKEN}", nothing is hidden.
  if (PLACEHOLDER.test(value.slice(scheme.length))) return;
  hide(value, before.length);
  if (scheme !== "") found.tell(value.slice(scheme.length));
}

/** Matches `name=value`, `name: value` and JSON's `"name": "value"`, also inside a longer text. */
const PAIR =
  /(?<![\w.-])-{0,2}(?:\\{0,4}["'])?([A-Za-z_][\w.-]{0,80})(?:\\{0,4}["'])?(\s{0,4}[=:]\s{0,4})(?:\\{0,4}"((?:[^"\\]|\\[^"])*)\\{0,4}"|\\{0,4}'([^']*)'|((?:Bearer|Basic|Token|Bot|ApiKey)\s+)?((?:\$\{[^{}]*\}|[^\s&;,"'{}])+))/gi;

/** Options and their names are short. */
const MAX_NAMES = 200;

function inPairs(arg: string, hide: (text: string, start: number) => void): void {
  // `--api-key=…`, and `--env=API_KEY=…`: the value is the rest.
  for (const { 1: name = "", index } of arg
    .slice(0, MAX_NAMES)
    .matchAll(/(?<=^-{0,2}(?:[\w.-]+=)?)([A-Za-z_][\w.-]*)=/g)) {
    const value = arg.slice(index + name.length + 1);
    if (!isSecretName(name)) continue;
    if (isSecretValue(value, name)) hide(value, index + name.length + 1);
    return;
  }
  for (const match of arg.matchAll(PAIR)) {
    const [whole, key = "", , double, single, , bare] = match;
    const value = double ?? single ?? bare ?? "";
    if (!isSecretName(key) || !isSecretValue(value, key)) continue;
    // "https:" is a scheme, and what follows is a URL.
    if (bare?.startsWith("//")) continue;
    hide(value, match.index + whole.lastIndexOf(value));
  }
}

/** `Server=db;User Id=sa;Password=two words`: a value ends at the next semicolon. */
const CONNECTION_STRING = /^[\w .-]+=[^;]*(?:;[\w .-]+=[^;]*)+;?$/;

function inConnectionString(arg: string, hide: (text: string, start: number) => void): void {
  if (!CONNECTION_STRING.test(arg)) return;
  for (const { 1: name = "", 2: value = "", index } of arg.matchAll(/([\w .-]+)=([^;]*)/g))
    if (isSecretName(name) && isSecretValue(value, name)) hide(value, index + name.length + 1);
}

/** A digest's name or a package's separator, before a hash of something public. */
const BEFORE_HASH = /(?:sha\d+[:-]|md5[:-]|[@#])$/i;
const MAX_BEFORE_HASH = 12;

function inWords(found: Findings, place: WordPlace, { forApproval = false }: FindOptions): void {
  const { text: arg } = place;
  if (/^[A-Za-z\d+/]{24,}={0,2}$/.test(arg) && isRandom(arg, MIN_RANDOM_ARG)) {
    found.hide(arg, 0, { isTelling: true });
    return;
  }
  for (const { 0: word, index } of arg.matchAll(/[A-Za-z\d_+=~-]{20,}/g)) {
    // Of `--config=abc`, only the value.
    const value = /^[-=]*(?:[\w-]+=(?!=*$))?(.*)$/.exec(word)?.[1] ?? "";
    const start = index + word.length - value.length;
    const before = arg.slice(Math.max(0, start - MAX_BEFORE_HASH), start);
    // A digest, a commit of a package or a UUID is no secret.
    if (BEFORE_HASH.test(before) || UUID.test(value) || isInUrl(place, start)) continue;
    if (forApproval && isInPath(place, start, value)) continue;
    if (isRandom(value, MIN_RANDOM_ARG)) found.hide(value, start, { isTelling: true });
  }
}

function isPath(text: string): boolean {
  return (
    /^(?:[A-Za-z]:[\\/]|\.{0,2}[\\/].*[\\/.]|~[\\/]|\.{1,2}[\\/])/.test(text) ||
    /^[\w@.-]+(?:[\\/][\w@.+-]+)+\.\w{1,5}$/.test(text)
  );
}
