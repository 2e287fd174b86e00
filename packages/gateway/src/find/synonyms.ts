// Words that people use interchangeably when they talk about tools. Only general ones: server-specific terms are left
// to the descriptions and the model.
import { wordsOf } from "./words.js";

const GROUPS = `
  picture image photo photograph screenshot graphic
  folder directory
  remove delete erase forget drop clear discard
  find search look discover locate lookup
  make create generate build new add
  change edit modify update alter adjust
  show display view list see
  rename move relocate
  price cost worth value quote fee
  web internet website site page url online
  mail email inbox
  fetch download retrieve get obtain pull
  note memo remember memory memorize recall
  fact observation knowledge
  connect link relation relationship association
  film movie video clip
  song music audio sound recording track
  chart graph plot diagram visualize draw
  spreadsheet excel workbook worksheet sheet xlsx csv
  slide presentation powerpoint deck ppt pptx
  docx word
  stock share ticker equity
  shell terminal command console bash
  run execute launch perform invoke
  program process
  package library module dependency
  bug issue ticket defect problem
  type fill input enter
  press click tap
  colour color
  save write store keep record
  begin start open launch
  stop end terminate kill quit cancel abort halt
  paper article preprint publication study
  compare difference diff versus
  vulnerability security exploit
  key token secret password credential
  map location place address
  message comment post reply chat conversation
  discussion thread comment reply
  weather forecast temperature rain
  currency exchange euro dollar pound yen money
  convert turn transform translate
  join merge combine unite
  divide split separate
  copy duplicate clone replicate
  send submit upload post deliver notify
  person user people member contact
  calendar schedule event meeting appointment
  task todo reminder
  ticket seat booking reservation
  book reserve
  hotel room accommodation lodging stay apartment flat rental
  flight airline plane airport
  train railway rail station
  car drive vehicle
  route direction navigation way
  coordinate latitude longitude geocode
  nearby near around close
  calculate calculator compute math arithmetic percent sum
  allowed valid legal permitted permission
  size space large big
  length duration long
  several multiple many
  duplicate repeated
  status state condition
  log output trace
  error failure crash exception crashing
  read open load
  content text body
  summary summarize short brief overview digest
  detail information description about
  current now today latest recent
  old previous past history earlier
  alternative instead replacement
  replace swap substitute
  best top ranking rank leaderboard popular trending
  rating review score recommendation
  buy purchase order
  sell sale
  pay payment charge bill invoice
  refund reimburse
  customer client buyer
  company business firm corporation organization
  employee staff worker
  product item goods
  shop store retailer
  food recipe dish meal cook
  news headline story
  language translate translation
  website navigate browse visit
  link hyperlink url
  table row record query sql
  database query sql
  code source script
  test check verify validate
  branch fork
  commit revision
  deploy release publish ship
  version release
  install setup
  enable activate
  disable deactivate
  lock block
  approve accept confirm
  reject decline deny
  assign reassign assignee
  finish complete done close resolve
  random dice
  time clock hour
  date day
  timezone zone
  count number many amount
  filter narrow
  sort order arrange
  player gamer
  match game
  team squad
  doctor physician
  drug medicine medication
  disease illness condition
  gene variant mutation
  trial study
  crypto bitcoin ethereum coin
  market trading trade
  dividend earnings income
  font typeface
  icon symbol
  button control
  crop trim cut
  resize scale
  extract parse
  compress zip archive
  encrypt cipher
  container docker pod
  server host machine
  monitor watch track
  alert alarm warning notification
  subscribe follow
  domain whois dns
  profile account
  sign login authenticate
  brainstorm idea
  plan outline`;

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
