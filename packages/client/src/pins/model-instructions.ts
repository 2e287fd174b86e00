// Finds instructions to the model that reads a definition: to disregard others, to keep something from the user, to
// hand over files, secrets or the conversation. These are rules of thumb; bench/pins measures them.
import { plainLetters, unspelled } from "./plain-letters.js";

/** What a text asks of the model, and the words that say so. */
interface FoundInstruction {
  readonly rule: string;
  /** The matched words, in plain letters. */
  readonly quote: string;
}

interface Rule {
  readonly name: string;
  /** Cheap to test; without a match the rule cannot match either. */
  readonly needs: RegExp;
  readonly pattern: RegExp;
}

const USER =
  "(?:the |your |our |any )?(?:end[ -])?(?:users?|human|person|anyone|anybody|operator|customer|client|them)\\b";
const NOT = "\\b(?:do not|don't|dont|never|must not|should not|shall not|avoid|refrain from|not to|no need to)\\b";
const ORDERS = "(?:instructions?|prompts?|directions?|directives?|guidelines?|guardrails?|safeguards?|orders)";
const EARLIER =
  "(?:previous(?:ly)?|prior|above|earlier|preceding|former|system|developer|safety|your|original|initial)";
/** Files that no tool needs to be handed. */
const PRIVATE_FILE =
  "(?:\\.ssh\\b|\\bid_rsa|\\bid_ed25519|\\bid_ecdsa|\\.aws/|\\.kube/|\\.npmrc|\\.netrc|\\.pgpass|\\.gnupg|\\.git-credentials|\\.docker/config|[\\s`'\"/]\\.env\\b|/etc/(?:passwd|shadow)|\\bmcp\\.json|claude_desktop_config|\\.bash_history|\\.zsh_history|keychain)";
const SECRET =
  "(?:private keys?|ssh keys?|api[ _-]?keys?|(?:access |auth |session )?tokens?|credentials?|passwords?|environment variables?|env vars?|cookies?|seed phrases?|secrets?)\\b";
const HAND_OVER =
  "\\b(?:put|place|include|attach|append|paste|insert|provide|pass|send|upload|add|embed|forward|copy|submit|leak|dump|exfiltrate|post|transmit|encode)\\b";
const READ = "\\b(?:read|open|cat|load|fetch|get|retrieve|print|collect|access|view|list|find|scan)\\b";
const ORDERED = "\\b(?:before|first|always|must|you|whenever|make sure|be sure|please|required|then|also|otherwise)\\b";
const OUTSIDE =
  "(?:https?://(?!localhost|127\\.|(?:[\\w-]+\\.)*example\\.)|[\\w.+-]{1,64}@(?!(?:[\\w-]+\\.)*example\\.)[\\w-]+\\.[a-z]{2,})";
const NOT_BEFORE = "(?<!\\b(?:never|not|don't|without|avoid|cannot|can't)\\s(?:\\w+\\s){0,2})";

function rule(name: string, needs: RegExp, ...patterns: readonly string[]): Rule {
  return { name, needs, pattern: new RegExp(patterns.map((pattern) => `(?:${pattern})`).join("|"), "u") };
}

const RULES: readonly Rule[] = [
  rule(
    "overrides other instructions",
    /ignor|disregard|forget|follow|obey|overrid|bypass|supersede|skip|precedence|priority|you are now|you have no|no longer|instruction|guidance|rules|orders|prompt|directi|command|compromised|unsafe|forbidden|must|pay no|from now/,
    `\\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|do not (?:follow|obey))\\b[^.;]{0,25}?\\b(?:${EARLIER}|all|any|other|existing|the)\\b[^.;]{0,25}?\\b${ORDERS}\\b`,
    `\\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|override|overriding|bypass|supersedes?|skip)\\b[^.;]{0,25}?\\b${EARLIER} (?:\\w+ ){0,2}(?:${ORDERS}|rules|polic(?:y|ies)|restrictions|constraints|context|messages?)\\b`,
    "\\b(?:take|takes|have|has) (?:precedence|priority) over (?:\\w+ ){0,4}(?:instructions?|prompts?|system|user)\\b",
    "\\byou (?:are now|have no|no longer have)\\b[^.;]{0,30}\\b(?:unrestricted|restrictions|limits|limitations|developer mode|jailbroken|root)\\b",
    "\\bnew (?:system )?instructions?\\s*:",
    "\\b(?:ignore|disregard|forget)\\b (?:everything|anything|what(?:ever)?)\\b[^.;]{0,25}?\\b(?:above|before|previously|earlier|told|instructed)\\b(?! (?:the|an?|this|that|\\d))",
    "\\bpay no (?:attention|heed) to\\b[^.;]{0,30}?\\b(?:instructions?|guidance|prompts?|rules|warnings?)\\b",
    "\\bfrom now on,? (?:you|always|never)\\b|\\bsystem override\\b",
    "\\b(?:guidance|instructions?|rules|directions|prompts?|orders)\\b[^.;]{0,40}?\\b(?:no longer (?:apply|applies|valid|count)|(?:are|is) (?:obsolete|void|superseded|cancelled))\\b",
    "\\b(?:treat|regard|consider|interpret)\\b[^.;]{0,60}?\\bas (?:an? |your |direct )?(?:orders?|instructions?|commands?|directives?)\\b",
    "\\bother (?:\\w+ )?(?:tools|servers)\\b[^.;]{0,20}?\\b(?:must not be used|must never|are (?:compromised|unsafe|forbidden))\\b",
  ),
  rule(
    "keeps something from the user",
    /user|human|person|any(?:one|body)|operator|customer|client|them|mention|reveal|disclose|secret|silent|covert|quiet|discreet|hid|conceal|without|tell no|between us/,
    `${NOT}[^.;]{0,20}?\\b(?:tell|telling|inform|informing|notify|notifying|alert|alerting|warn)\\b ?${USER}`,
    `${NOT}[^.;]{0,20}?\\b(?:mention|reveal|disclose|explain|report|show)(?:ing)?\\b (?:this|it|that|these|anything|the (?:above|following|instructions?))\\b[^.;]{0,30}?\\b(?:to )?${USER}`,
    `${NOT}[^.;]{0,12}?\\b(?:mention|reveal|disclose)(?:ing)? (?:this|it|that|these)\\b`,
    `\\bwithout (?:telling|informing|mentioning (?:this|it) to|the knowledge of|letting) ?${USER}`,
    `${NOT}[^.;]{0,12}?\\blet(?:ting)? ${USER} (?:know|see|notice)`,
    `\\b(?:keep|hide|conceal)(?:s|ing)? (?:this|it|these|that|them)\\b[^.;]{0,30}?\\b(?:secret|hidden|from ${USER})`,
    `\\b(?:users?|human)\\b[^.;]{0,20}?\\b(?:unaware|uninformed|in the dark|oblivious)\\b`,
    "\\b(?:users?|human)\\b[^.;]{0,12}?\\b(?:must|should|need|does|do|shall)(?: not|n't| never) (?:(?:need|have) )?(?:to )?(?:know|notice|learn|find out|be (?:told|informed|aware|notified))\\b",
    `(?:\\bno (?:reason|need) to|${NOT}) (?:bother|trouble|burden|disturb|worry) ${USER}`,
    `\\bwithout (?:${USER}'?s? (?:knowing|noticing|knowledge|awareness)|(?:bringing it up|saying so|comment|mentioning it))`,
    "\\bbehind the user's back\\b|\\btell (?:nobody|no one)\\b|\\bkeep (?:this|it) between us\\b",
    `${NOT}[^.;]{0,12}?\\bsay\\b[^.;]{0,40}?\\bto ${USER}`,
    `\\b(?:secret|confidential|concealed) from ${USER}`,
    "\\b(?:secretly|silently|covertly|quietly|discreetly) (?:also )?(?:send|forward|upload|copy|post|exfiltrate|transmit|collect|include|attach|log|add|run|execute|call)\\b",
  ),
  rule(
    "claims an approval",
    /confirm|permission|approv|consent|authori|agreed|grant|given|request|action|command|call/,
    `${NOT}[^.;]{0,12}?\\b(?:ask|asking|prompt|prompting|wait|request|seek|require)\\b[^.;]{0,25}?\\b(?:confirm|confirmation|permission|approval|consent|authori[sz]ation)\\b`,
    "\\busers? (?:has|have) (?:already )?(?:approved|consented|authori[sz]ed|confirmed|agreed|granted|given (?:permission|consent|approval))\\b",
    "\\b(?:without|no) (?:further )?(?:user )?(?:confirmation|approval|consent) (?:is )?(?:needed|required|necessary)\\b[^.;]{0,20}\\b(?:always|just|proceed)\\b",
    "\\b(?:grant|approve|accept|allow) (?:every|all|any) (?:request|call|action|command)s?\\b",
  ),
  rule(
    "asks for a private file",
    /ssh|id_|\.aws|\.kube|\.npmrc|\.netrc|\.pgpass|\.gnupg|git-cred|\.docker|\.env|\/etc|mcp\.json|desktop_config|_history|keychain|~\/\.|home/,
    `${NOT_BEFORE}${HAND_OVER}[^.;]{0,60}?${PRIVATE_FILE}`,
    `${ORDERED}[^.;]{0,60}?${READ}[^.;]{0,40}?${PRIVATE_FILE}`,
    `${READ}[^.;]{0,30}?${PRIVATE_FILE}[^;]{0,80}?\\b(?:and|then)\\b ${HAND_OVER}`,
    `${ORDERED}[^.;]{0,60}?${READ}[^.;]{0,30}?~/\\.[^;]{0,60}?${HAND_OVER}`,
    `${HAND_OVER}[^.;]{0,60}?\\b(?:in|from) (?:the|your|their|the user's) home (?:directory|folder)\\b`,
  ),
  rule(
    "asks for secrets",
    /key|token|secret|passw|credential|env|cookie|seed/,
    `${NOT_BEFORE}${HAND_OVER}[^.;]{0,30}?\\b(?:all|any|every|the user's|users'|your|their|contents? of|values? of)\\b[^.;]{0,30}?\\b${SECRET}`,
  ),
  rule(
    "asks for secrets",
    /key|token|secret|passw|credential|env|cookie|seed/,
    `(?:${HAND_OVER}|\\b(?:appended|attached|included|holds?|contains?)\\b)[^.;]{0,60}?\\$\\{?[a-z0-9_]*(?:key|token|secret|password|credential)`,
    `${HAND_OVER}[^.;]{0,60}?(?:\\bprintenv\\b|process\\.env\\b|os\\.environ\\b)`,
    "(?:\\bprintenv\\b|process\\.env\\b|os\\.environ\\b)[^.;]{0,40}?\\b(?:appended|attached|included|added|sent|passed)\\b",
  ),
  rule(
    "runs a downloaded script",
    /curl|wget|iex|invoke-/,
    "\\b(?:curl|wget)\\b[^;]{0,120}?\\|\\s*(?:sudo )?(?:ba|z|da)?sh\\b",
    "\\biex ?\\(|\\binvoke-expression\\b",
  ),
  rule(
    "asks for the conversation",
    /conversation|chat|dialog|message|system|developer|instructions|said|told|wrote|typed|shared|prompts/,
    "\\b(?:everything|all|whatever|anything)\\b[^.;]{0,15}?\\b(?:user|you)\\b[^.;]{0,15}?\\b(?:said|told you|wrote|typed|shared)\\b",
    "(?<!\\b(?:returns|lists|gets|shows|exports|summari[sz]es|fetches|reads|retrieves|searches) (?:\\w+ ){0,3})\\b(?:entire|full|whole|complete|all|verbatim|raw|previous)\\b[^.;]{0,20}?\\b(?:conversation|chat|dialogue?|message)s? (?:history|so far|context|log|with the user|up to (?:now|this))\\b",
    `(?:${HAND_OVER}|\\b(?:including|reveal|repeat|print|output|show|return|expose|with)\\b)[^.;]{0,40}?\\b(?:system prompt|system message|developer message|(?:initial|hidden) instructions)\\b`,
    "\\b(?:user's|users'|user) (?:messages|conversations?|prompts|chats?)\\b[^.;]{0,40}?\\bto\\b[^.;]{0,20}?(?:https?:|@)",
  ),
  rule(
    "sends data elsewhere",
    /https?:|@|\bdot\b|[([]dot/,
    `\\b(?:send|forward|upload|post|transmit|copy|bcc|exfiltrate|leak|mirror|relay|redirect)\\b[^.;]{0,30}?\\b(?:all|every|each|everything|contents?|conversation|messages|files|data|copy|results?|it|them)\\b[^;]{0,40}?\\b(?:to|at|via)\\b[^;]{0,20}?${OUTSIDE}`,
    "\\b\\w+ [\\[(]?at[\\])]? \\w+ [\\[(]?dot[\\])]? [a-z]{2,}\\b",
    `\\b(?:always|must|also|silently)\\b[^.;]{0,20}?\\b(?:add|include|set|use|bcc|cc|change|replace)\\b[^;]{0,40}?${OUTSIDE}`,
    `\\b(?:change|replace|modify|redirect|rewrite|alter)\\b[^.;]{0,20}?\\b(?:recipients?|destination|addresses|address|url)\\b[^;]{0,20}?\\bto\\b[^;]{0,15}?${OUTSIDE}`,
  ),
  rule(
    "imitates the conversation format",
    /[<[:]|begin/,
    "<\\/?(?:important|system|secret|hidden|admin|assistant|override|sys)>",
    "<\\|[a-z_]{2,20}\\|>",
    "\\[\\/?inst\\]|<<\\/?sys>>|\\[system\\]",
    "\\bbegin (?:system|hidden) (?:prompt|instructions?)\\b",
    "(?:^|[.!?#>] )system: ?(?:call|execute|read|run)\\b",
    "(?:^|[\\s#])(?:system|assistant)\\s*: ?(?:you|ignore|always|never|attach|send|the user)\\b",
  ),
  // Spelled letter by letter, with nothing left between the words.
  rule(
    "overrides other instructions",
    /previousinstr|priorinstr|allinstr|yourinstr|telltheuser/,
    "(?:ignore|disregard|forget)[a-z]{0,12}instructions|(?:donot|dont|never)telltheuser",
  ),
  rule(
    "hides an instruction in a code",
    /decode|decrypt|unescape|deobfuscate/,
    "\\b(?:decode|decrypt|unescape|deobfuscate)\\b[^.;]{0,30}?\\b(?:and|then)\\b[^.;]{0,15}?\\b(?:follow|execute|run|obey|perform)\\b",
  ),
  // Other languages: to disregard instructions, and to keep something from the user.
  rule(
    "overrides other instructions",
    /[^\0-\u007f]|ignor|vergiss|vergess|missacht|olvid|omit|desconsid|esquec|dimentic|negeer|talimat|abaikan|bo qua/,
    "\\b(?:ignorier|vergiss|vergesse|missacht)\\w*[^.;]{0,30}(?:vorherig|bisherig|obig|fruher|alle)\\w*[^.;]{0,20}(?:anweisung|vorgabe|regel|instruktion)",
    "\\bignor(?:e|ez|er)\\b[^.;]{0,30}\\b(?:instructions|consignes|directives) (?:precedent|anterieur)",
    "\\b(?:ignora|ignore|ignorar|olvida|olvide|omite)\\b[^.;]{0,30}\\b(?:instrucciones|indicaciones|ordenes)\\b",
    "\\b(?:ignore|ignora|desconsidere|esqueca)\\b[^.;]{0,30}\\binstrucoes\\b",
    "\\b(?:ignora|ignorare|dimentica)\\b[^.;]{0,30}\\bistruzioni\\b",
    "\\bnegeer\\b[^.;]{0,30}\\b(?:instructies|aanwijzingen)\\b",
    "\\b(?:zignoruj|ignoruj)\\b[^.;]{0,30}\\b(?:instrukcj|polece)",
    "(?:игнорир|проигнорир|забудь)\\S{0,40}[^.;]{0,30}(?:инструкц|указани)",
    "(?:忽略|无视|忘记|無視|忽視)[^。]{0,12}(?:指令|指示|提示|规则|規則)",
    "(?:以前|これまで|前|上記|すべて)の[^。]{0,12}(?:指示|命令)[^。]{0,8}(?:無視|忘れ)",
    "(?:이전|모든|앞선)[^.]{0,12}(?:지시|명령|지침)[^.]{0,10}무시",
    "(?:onceki|tum)\\b[^.;]{0,20}talimat\\w*[^.;]{0,20}(?:yok say|unut|goz ardi|dikkate alma)",
    "\\babaikan\\b[^.;]{0,25}\\b(?:instruksi|perintah)",
    "\\bignorera\\b[^.;]{0,25}\\b(?:instruktioner|anvisningar)",
    "\\bbo qua\\b[^.;]{0,25}\\b(?:huong dan|chi dan|lenh)",
    "(?:पिछले|सभी|पूर्व)[^।]{0,20}निर्देश[^।]{0,20}(?:अनदेखा|नजरअंदाज|भूल)",
    "تجاهل[^.]{0,30}(?:التعليمات|الاوامر|الأوامر)",
  ),
  rule(
    "keeps something from the user",
    /[^\0-\u007f]|nutzer|anwender|utilisateur|usuario|utente|kullanici|pengguna/,
    "\\b(?:sag|erzahl|verrat|informier|erwahn|teil)\\w*\\b[^.;]{0,30}\\b(?:benutzer|nutzer|anwender)\\w*\\b[^.;]{0,20}\\b(?:nicht|nichts|kein)",
    "\\b(?:ne |n'(?:en )?)[^.;]{0,12}(?:dis|dites|parle|mentionne|informe|revele|previen)\\w*[^.;]{0,30}\\butilisateur",
    "\\bno (?:le |se lo |lo )?(?:digas|diga|informes|informe|menciones|reveles|cuentes)\\b[^.;]{0,30}\\busuario",
    "\\bnao (?:diga|informe|mencione|conte|revele)\\b[^.;]{0,30}\\busuario",
    "\\bnon (?:dire|dirlo|informare|menzionare|rivelare)\\b[^.;]{0,30}\\butente",
    "(?<![\\p{L}])не (?:говори|сообщай|рассказывай|упоминай)\\S*[^.;]{0,30}пользовател",
    "(?:不要|别|請勿|请勿|不得)[^。]{0,6}(?:告诉|告訴|通知|提及|透露)[^。]{0,6}(?:用户|使用者|用戶)",
    "ユーザー?に[^。]{0,14}(?:言わない|伝えない|知らせない|教えない)",
    "사용자에게[^.]{0,14}(?:말하지|알리지)",
    "\\bkullaniciya\\b[^.;]{0,15}(?:soyleme|bildirme|bahsetme)",
    "\\bjangan\\b[^.;]{0,12}(?:beri tahu|katakan|memberi tahu)[^.;]{0,10}pengguna",
    "لا تخبر[^.]{0,20}المستخدم",
  ),
];

/** Names of parameters that ask for what the model knows, whatever their description says. */
const GREEDY_NAME =
  /^(?:your|my|current|llm|model|assistant|agent)_(?:system_)?(?:prompt|instructions|context|memory)$|^(?:full|entire|complete)_(?:conversation|chat|context|history)$|^side_?notes?$|^all_(?:env|secrets|tokens|messages)$/;

const LONGEST_QUOTE = 120;

/** The instructions in a text, at most one of each rule. */
export function instructionsIn(text: string): FoundInstruction[] {
  if (text.length < 10) return [];
  const found = new Map<string, FoundInstruction>();
  for (const reading of readingsOf(text)) {
    for (const { name, needs, pattern } of RULES) {
      if (found.has(name) || !needs.test(reading)) continue;
      const [quote] = pattern.exec(reading) ?? [];
      if (quote !== undefined) found.set(name, { rule: name, quote: quote.trim().slice(0, LONGEST_QUOTE) });
    }
  }
  return [...found.values()];
}

/** Whether the name of a parameter alone asks for the conversation or for secrets. */
export function isGreedyName(name: string): boolean {
  return GREEDY_NAME.test(plainLetters(name).replace(/([a-z])[- ]/g, "$1_"));
}

/** The text as it is, with spelled words joined, and whatever is encoded in it. */
function* readingsOf(text: string): Generator<string> {
  const plain = plainLetters(text);
  yield plain;
  const joined = unspelled(plain);
  if (joined !== plain) yield joined;
  // The name of a parameter, or one of its values.
  if (!/\s/.test(text)) yield plainLetters(text.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_.]+/g, " "));
  if (/erongi|dragersid|resu eht|snoitcurtsni/.test(plain)) yield [...plain].reverse().join("");
  const unescaped = withoutEscapes(text);
  if (unescaped !== text) yield plainLetters(unescaped);
  for (const [blob] of text.matchAll(/[A-Za-z0-9+/_-]{24,}={0,2}/g)) {
    const decoded = decodedText(blob);
    if (decoded !== undefined) yield plainLetters(decoded);
  }
}

/** Resolves `\u0069`, `\x69`, `%69` and `&#105;`. */
function withoutEscapes(text: string): string {
  return text.replace(
    /\\u\{?([0-9a-f]{4,5})\}?|\\x([0-9a-f]{2})|%([0-9a-f]{2})|&#x([0-9a-f]{2,5});|&#(\d{2,6});/gi,
    (match, ...groups: (string | undefined)[]) => {
      const hex = groups.slice(0, 4).find((digits) => digits !== undefined);
      const code = hex === undefined ? Number(groups[4]) : Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : match;
    },
  );
}

/** The text in base64 or hexadecimal digits; undefined if it is not text. */
function decodedText(blob: string): string | undefined {
  const bytes = /^(?:[0-9a-f]{2})+$/i.test(blob)
    ? Buffer.from(blob, "hex")
    : Buffer.from(blob.replaceAll("-", "+").replaceAll("_", "/"), "base64");
  const text = bytes.toString("utf8");
  const letters = text.match(/[\p{L}\p{N}\p{P} \n]/gu)?.length ?? 0;
  return letters >= text.length * 0.9 && /\s/.test(text) ? text : undefined;
}
