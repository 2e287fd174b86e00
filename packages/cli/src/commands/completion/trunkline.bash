# Readline breaks words at colons and equals signs: they are put together again, and what Readline believes to stand in front
# of the word is taken off the answers. In a quoted word, that is everything up to the quote. Written for bash 3.2, which
# macOS still has.

# Reads the word at the cursor as the shell would. Sets `quote` to the open quote, `front` to what the word means up to it, and
# `closed` if a quote was closed before.
_trunkline_quote() {
  local word=$1 at char last=
  quote= front= closed=
  for ((at = 0; at < ${#word}; at++)); do
    char=${word:at:1}
    if [[ -n $quote ]]; then
      if [[ $char == \\ && $quote != \' ]]; then
        ((at++))
      elif [[ $char == "${quote#\$}" ]]; then
        quote= closed=yes
      fi
    elif [[ $char == \\ ]]; then
      ((at++))
      front+=${word:at:1} last=
    elif [[ $char == [\'\"] ]]; then
      quote=$char
      if [[ $last$char == "\$'" ]]; then
        quote=\$\' front=${front%\$}
      fi
    else
      front+=$char last=$char
    fi
  done
}

# Sets `value` to how it is written inside the open quote, or without one. Never `compgen -W`: that would run a $(command) in
# the name of a server.
_trunkline_escape() {
  local plain=$value at char
  if [[ -z $quote ]]; then
    printf -v value %q "$plain"
    return
  fi
  value=
  for ((at = 0; at < ${#plain}; at++)); do
    char=${plain:at:1}
    case $quote$char in
      "''") value+="'\\''" ;;
      \"[\\\$\"\`]) value+=\\$char ;;
      # In double quotes, a backslash does not keep it from the history and stays in the word.
      '"!') value+="\"'!'\"" ;;
      \$\'\\) value+='\x5c' ;;
      "\$''") value+='\x27' ;;
      "\$'!") value+='\x21' ;;
      *) value+=$char ;;
    esac
  done
  # Readline closes the quote unless the word ends with one, so such a word has to be closed already.
  case $quote${plain: -1} in
    "''") value=${value%\'} ;;
    '""') value=${value%\\\"}'"\"' ;;
    '"!') value+='"' ;;
  esac
}

_trunkline() {
  local rest=${COMP_LINE:0:COMP_POINT} words=() count=0 at part
  for ((at = 0; at <= COMP_CWORD; at++)); do
    if [[ $at -eq 0 || $rest == [[:space:]]* ]]; then
      rest=${rest#"${rest%%[![:space:]]*}"}
      words[count++]=
    fi
    part=${COMP_WORDS[at]}
    [[ $at -eq $COMP_CWORD ]] && part=$rest
    words[count - 1]+=$part
    rest=${rest#"$part"}
  done

  local current=${words[count - 1]} kind= line value cut= quote front closed
  COMPREPLY=()
  _trunkline_quote "$current"
  # A word that continues after a quote is completed by hand.
  [[ -z $closed ]] || return 0
  [[ -z $quote && $current == *[:=]* ]] && cut=${current%"${current##*[:=]}"}
  while IFS= read -r line; do
    if [[ -z $kind ]]; then
      kind=${line:-words}
      continue
    fi
    value=${line%%$'\t'*}
    # Bash quotes file names itself, and with them everything else.
    [[ $kind == words || $value != *[!A-Za-z0-9_.=-]* ]] || continue
    [[ $value == *[.=] ]] && compopt -o nospace 2>/dev/null
    [[ -z $quote ]] || value=${value#"$front"}
    _trunkline_escape
    # Readline would take its first quote for the one that is there already, and the rest would be outside.
    [[ -n $quote && $value == "${quote#\$}"* ]] && continue
    [[ $value == "$cut"* ]] && COMPREPLY+=("${value#"$cut"}")
  done < <(command trunkline __complete -- "${words[@]:1}" 2>/dev/null)

  [[ $kind == files || $kind == folders ]] || return 0
  # Bash does not know how to write a file name in this quote.
  [[ $quote != \$\' ]] || return 0
  compopt -o filenames 2>/dev/null
  [[ $kind == files ]] && kind=-f || kind=-d
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <(compgen "$kind" -- "${current#"$cut"}")
}
complete -F _trunkline trunkline
