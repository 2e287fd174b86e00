// Recognises forms that ask for a password, token, key or similar. The protocol forbids them: such values belong on the
// service's own page (URL mode), never in a form that passes through other programs.
import { inLatin, normalized } from "@trunkline/core";

const SERVICES =
  "access|api|auth|authentication|authorization|bearer|bot|deploy|github|gitlab|id|npm|oauth|personal access|refresh|security|session|slack";

const KEY_OWNERS =
  "access|anthropic|api|auth|aws|azure|deploy|encryption|gemini|google|master|open ?ai|private|recovery|root|secret|signing|ssh|stripe|wallet";

/** Words for secrets that are typed as text. */
const WORDS = new RegExp(
  `\\b(?:${[
    // Also as the end of a name: "pgpassword", "dbpwd".
    "[a-z]*pass ?words?|[a-z]*passwds?|[a-z]{0,6}pwd|pass ?phrases?|pass ?codes?|passkeys?",
    `(?:${SERVICES}|app) ?tokens?|tokens?|jwt|pat`,
    `(?:${KEY_OWNERS}) ?keys?|id (?:rsa|dsa|ecdsa|ed25519)`,
    "(?:client )?secrets?|credentials?|log ?in details|maiden name|security (?:answer|question)s?",
    "otp|totp|2fa|(?:one time|two factor|mfa|2fa|authenticator|verification|security|backup|recovery) ?(?:codes?|passwords?|pins?)",
    "(?:access|authentication|authorization|log ?in|sign ?in|sms|unlock|\\d digit) codes?",
    "codes? (?:that )?(?:we|i|was|were)(?: have| just)* sent|codes? (?:from|in|on) (?:your|the) (?:authenticator|e ?mail|phone|sms|text)",
    "pin ?codes?|pin numbers?|pin|cvv2?|cvc2?|(?:credit|debit) cards?|card numbers?|social security|ssn",
    "(?:seed|recovery|mnemonic) (?:phrases?|words?)|mnemonic|session cookies?|private seed",
  ].join("|")})\\b`,
  "g",
);

/** Everyday words that mean a secret only as the whole name of a field. */
const FIELD_NAMES = /^(?:(?:admin|db|git(?: ?hub)?|login|mail|root|smtp|ssh|sudo|user) ?)?pass$|^cookies?(?: header)?$/;

/** The same in other languages, without accents. They are not ordinary words there. */
const FOREIGN_WORDS =
  /passwort|kennwort|zugangsdaten|geheimzahl|(?:zugangs|sicherheits|bestatigungs)code|(?:api|zugangs)[- ]?schlussel|mots? de passe|cle (?:d')?api|jeton d'acces|contrasena|clave (?:secreta|de acceso|(?:de )?api)|\bsenhas?\b|chave (?:secreta|(?:de )?api)|parola d'ordine|parolă|cod(?:e|igo) (?:de |d')(?:verifica|securite|seguri|segur|acces)|palavra passe|lozink|συνθηματικ|κωδικ[οό][ςσ] προσβασης|chiave (?:segreta|api)|wachtwoord|\bhas[lł]o\b|\bheslo\b|jelszo|losenord|l[oø]senord|passord|adgangskode|salasana|\bsifre(?:niz|nizi|si|yi)?\b|kata sandi|mat khau|парол[ьяюе]|\bпарола\b|лозинк|токен доступа|ключ api|密码|密碼|验证码|驗證碼|認証コード|確認コード|인증 ?(?:번호|코드)|код подтверждения|رمز عبور|گذرواژه|পাসওয়ার্ড|口令|密钥|密鑰|访问令牌|パスワード|暗証番号|アクセストークン|apiキー|비밀번호|암호(?!화)|패스워드|كلمة (?:المرور|السر)|סיסמ[הא]|पासवर्ड|รหัสผ่าน/u;

/** What follows or precedes such a word if the value itself is not asked for: "token limit", "max tokens". */
const BENIGN_AFTER =
  /^ ?(?:address|algorithm|amount|balance|based|budget|cost|counts?|description|design|enabled|expir(?:y|ation|es)|fields?|format|generator|gist|handling|hints?|ids?|label|length|lifetime|limits?|managers?|management|methods?|names?|pages?|per|polic(?:y|ies)|prefix|price|protected|protection|provider|rates?|requirements?|resets?|rotation|rules?|santa|scann(?:er|ing)|scopes?|separator|sharing|size|standard|store|strength|symbols?|ttl|types?|usage|validation|vaults?|versions?|window)\b/;
const BENIGN_BEFORE =
  /(?:\b(?:completion|context|count of|css|design|erc ?20|how many|ids? (?:of|for)(?: (?:the|a|an|this|your))?|input|max(?:imum)?|min(?:imum)?|names? (?:of|for)(?: (?:the|a|an|this|your))?|nft|no|num(?:ber)?(?: of)?|output|prompt|special|stop|total|without))\s*$/;

/** What makes a sentence with such a word a request for it. */
const REQUEST =
  /\b(?:confirm|enter|fill in|give|input|insert|need|needs|paste|please|provide|re ?enter|require[sd]?|send|share|submit|supply|tell|type|verify|what is|whats|with|your)\b[^.!?\n]{0,60}$/;
const REQUEST_AFTER = /^\s*(?:[:?]|is (?:needed|required)|required|needed|please|for [^\n]{1,200}:\s*$|$)/;
/** A warning is the opposite of a request: "do not give us your PIN". */
const WARNING =
  /\b(?:do not|don.?t|never) (?:ever )?(?:enter|give|include|paste|provide|send|share|submit|tell|type|use|write)\b([^.!?:;\n]{0,80})$/;
const ASKING = /\b(?:but|confirm|enter|give|instead|paste|please|provide|send|share|submit|supply|tell|type|verify)\b/;
/** Everyday words that only count next to a request. */
const SHORT_MESSAGE_WORDS = 4;

/** Whether the name or title of a field is one for a secret. */
export function isSecretField(name: string): boolean {
  return spellings(name).some(
    (text) => FIELD_NAMES.test(text.trim()) || FOREIGN_WORDS.test(text) || [...mentions(text)].length > 0,
  );
}

/** Whether a number with this name is a secret: a PIN, a one-time code, a card number. */
export function isSecretNumber(name: string): boolean {
  return spellings(name).some((text) => [...mentions(text)].some(({ word }) => NUMBER_WORD.test(word)));
}

/**
 * Whether a text asks the reader for a secret, rather than just mentioning one. A form that takes only numbers can ask
 * only for those that are numbers.
 */
export function asksForSecret(message: string, { isNumber = false } = {}): boolean {
  return spellings(withoutTitles(message)).some((text) => {
    if (!isNumber && FOREIGN_WORDS.test(text)) return true;
    const isShort = text.trim().split(/\s+/).length <= SHORT_MESSAGE_WORDS;
    return [...mentions(text)].some(
      ({ word, before, after }) =>
        !isWarning(before) &&
        (isShort || REQUEST.test(before) || REQUEST_AFTER.test(after)) &&
        (!isNumber || NUMBER_WORD.test(word)),
    );
  });
}

/**
 * Removes quotations of three words and more that do not address the reader. A title that is quoted in a question is not
 * the question: Change 'Fix the password reset'? Goes from one closing mark to the next. A regular expression would look
 * for a closing mark from every opening one.
 */
export function withoutTitles(message: string): string {
  let kept = "";
  let end = 0;
  let from = 0;
  for (const { index: close } of message.matchAll(/["'`”’»]/g)) {
    const start = startOfTitle(message.slice(from, close));
    if (start === -1) {
      // It ends nothing, but may begin a quotation.
      from = close;
      continue;
    }
    const title = message.slice(from + start, close + 1);
    kept += message.slice(end, from + start) + (/\byour\b/i.test(title) ? title : "…");
    end = from = close + 1;
  }
  return kept + message.slice(end);
}

/** Where the first quotation begins that has two spaces, and so at least two words, before the end of the text; or -1. */
function startOfTitle(text: string): number {
  const space = [...text.matchAll(/\s+/g)].at(-2)?.index ?? 0;
  return text.slice(0, space).search(/["'`“‘«](?=\S)/);
}

function isWarning(before: string): boolean {
  const warned = WARNING.exec(before)?.[1];
  return warned !== undefined && !ASKING.test(warned);
}

const NUMBER_WORD = /\b(?:pin|otp|totp|2fa|cvv|cvc|card|ssn|social|pass ?code|codes?)\b|\bcard/;

/** Longer than what any expression for the text before a word can match. Without it, each word reads all before it. */
const MOST_BEFORE = 200;

function* mentions(text: string): Generator<{ word: string; before: string; after: string }> {
  for (const match of text.matchAll(WORDS)) {
    const after = text.slice(match.index + match[0].length);
    const before = text.slice(Math.max(0, match.index - MOST_BEFORE), match.index);
    if (!BENIGN_AFTER.test(after) && !BENIGN_BEFORE.test(before)) yield { word: match[0], before, after };
  }
}

const DIGITS: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
};

/** The ways to read a text: as written, with look-alike letters, with digits for letters, and with spaced letters joined. */
function spellings(text: string): string[] {
  const words = text.replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2").replace(/[_\-./*]+/g, " ");
  const latin = looksLike(words);
  const joined = latin.replace(/\b(?:\p{L} ){3,}\p{L}\b/gu, (letters) => letters.replaceAll(" ", ""));
  const digits = latin.replace(/(?<=\p{L})[01345@$7]+(?=\p{L}|\b)/gu, (run) => [...run].map((d) => DIGITS[d]).join(""));
  // Without its accents, Hangul and kana would not be the same letters.
  const composed = normalized(words, "NFKC").toLowerCase();
  return [...new Set([composed, plainText(words), latin, joined, digits])].map((each) => each.replace(/[ \t]+/g, " "));
}

/** Characters that are not visible, and marks above and below letters. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{M}\u115f\u1160\u3164\uffa0\u2800]/gu;

/** Lower case, without accents and invisible characters. Keeps line breaks and tabs. */
function plainText(text: string): string {
  return normalized(text, "NFKD")
    .replace(INVISIBLE, (character) => (character === "\n" || character === "\t" ? character : ""))
    .toLowerCase();
}

/** Text as it looks to a person: {@link plainText} with letters that look like Latin ones replaced by these. */
export function looksLike(text: string): string {
  return inLatin(plainText(text));
}
