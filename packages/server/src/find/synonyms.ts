// Words that people use interchangeably when they talk about tools. Only general ones: server-specific terms are left
// to the descriptions and the model.
import { wordsOf } from "./words.js";

const GROUPS = `
  picture image photo screenshot
  folder directory
  remove delete erase forget drop
  find search look discover
  make create generate build new
  change edit modify update
  show display view
  rename move
  price cost worth
  web internet website site page
  mail email
  fetch download retrieve get
  note memo
  film movie video
  song music audio sound
  chart graph plot diagram
  spreadsheet excel workbook worksheet sheet
  slide presentation powerpoint deck
  docx word
  stock share ticker
  repository repo
  shell terminal command
  run execute launch
  program process
  package library module dependency
  bug issue ticket
  type fill input enter
  press click
  colour color
  save write store keep
  begin start
  stop end terminate kill
  paper article preprint publication
  compare difference diff
  vulnerability security
  key token secret
  map location place address
  message comment post
  weather forecast temperature
  currency exchange
  convert turn transform
  join merge combine
  divide split
  copy duplicate clone
  send submit upload
  person user people
  calendar schedule event meeting
  task todo`;

const synonyms = new Map<string, Set<string>>();
for (const line of GROUPS.trim().split("\n")) {
  const group = wordsOf(line);
  for (const word of group) {
    const others = synonyms.get(word) ?? new Set();
    for (const other of group) if (other !== word) others.add(other);
    synonyms.set(word, others);
  }
}

/** Returns the synonyms of a word, all normalized by {@link wordsOf}. */
export function synonymsOf(word: string): Iterable<string> {
  return synonyms.get(word) ?? [];
}
