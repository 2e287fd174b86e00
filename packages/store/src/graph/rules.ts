import { TrunklineError } from "@trunkline/core";
import { cppRules, cRules, maskCppWords } from "./languages/c.js";
import { csharpRules } from "./languages/csharp.js";
import { goRules } from "./languages/go.js";
import { javaRules } from "./languages/java.js";
import { javascriptRules } from "./languages/javascript.js";
import { phpRules } from "./languages/php.js";
import { pythonRules } from "./languages/python.js";
import { rubyRules } from "./languages/ruby.js";
import { rustRules } from "./languages/rust.js";
import type { GraphLanguage } from "./model/graph-model.js";
import type { LanguageRules } from "./reading/language-rules.js";

const RULES: Partial<Record<GraphLanguage, LanguageRules>> = {
  typescript: javascriptRules,
  tsx: javascriptRules,
  javascript: javascriptRules,
  python: pythonRules,
  go: goRules,
  rust: rustRules,
  c: cRules,
  cpp: cppRules,
  java: javaRules,
  csharp: csharpRules,
  ruby: rubyRules,
  php: phpRules,
};

/** Returns the rules for a language with a grammar. */
export function rulesOf(language: GraphLanguage): LanguageRules {
  const rules = RULES[language];
  if (rules === undefined) throw new TrunklineError("INTERNAL", `There are no rules for ${language}.`);
  return rules;
}

/** Returns the text in a form the grammar can read, with the same length. */
export function parsedText(text: string, language: GraphLanguage): string {
  return language === "c" ? maskCppWords(text) : text;
}
