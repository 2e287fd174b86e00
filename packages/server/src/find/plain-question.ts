// Replaces concrete values in a question by what they are: the words in a path or an address say little about the task.

const VALUES: readonly (readonly [RegExp, string])[] = [
  [/\bhttps?:\/\/[^\s"'<>)\]]*[^\s"'<>)\].,;:!?]/gi, "URL"],
  [/\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b/g, "email address"],
  // A path to a file keeps its extension: ~/notes/today.md is an "md file".
  [/(?<![\w/])(?:~|\.{1,2}|[A-Za-z]:)?[\\/][\w.~\\/-]*\.([A-Za-z]\w{0,4})\b/g, "$1 file"],
  [/(?<![\w/])(?:~|\.{1,2})\/[\w.~/-]*/g, "folder"],
  [/\bwww\.[\w-]+(?:\.[\w-]+)+\b/gi, "website"],
];

export function plainQuestion(question: string): string {
  return VALUES.reduce((text, [value, kind]) => text.replace(value, kind), question);
}
