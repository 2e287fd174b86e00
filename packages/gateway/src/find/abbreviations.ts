// Short forms, each with the words it stands for. They are written out in names, descriptions and questions alike, so
// `create_pr` and "open a pull request" have words in common.

const ABBREVIATIONS = `
  addr address
  admin administrator
  app application
  apps applications
  auth authentication
  calc calculate
  cmd command
  config configuration
  configs configurations
  conv conversation
  db database
  dbs databases
  del delete
  dep dependency
  deps dependencies
  desc description
  dest destination
  dev developer
  dir directory
  dirs directories
  dm direct message
  doc document
  docs documents
  env environment
  exec execute
  faq question
  gh github
  hn hacker news
  img image
  imgs images
  info information
  init initialize
  js javascript
  k8s kubernetes
  lang language
  lib library
  libs libraries
  loc location
  md markdown
  mr merge request
  msg message
  msgs messages
  num number
  org organization
  orgs organizations
  param parameter
  params parameters
  pic picture
  pics pictures
  pkg package
  pr pull request
  prs pull requests
  proc process
  prod production
  py python
  qty quantity
  ref reference
  refs references
  repo repository
  repos repositories
  sched schedule
  sec security
  spec specification
  specs specifications
  stat statistic
  stats statistics
  temp temperature
  temps temperatures
  ts typescript
  txt text
  tz timezone
  util utility
  utils utilities
  ver version
  vid video
  vids videos
  vuln vulnerability
  vulns vulnerabilities
  wiki wikipedia
  yt youtube`;

const written = new Map(
  ABBREVIATIONS.trim()
    .split("\n")
    .map((line) => {
      const [short = "", ...words] = line.trim().split(" ");
      return [short, words] as const;
    }),
);

/** Returns the words that a word stands for: usually itself. */
export function writtenOut(word: string): readonly string[] {
  return written.get(word) ?? [word];
}
