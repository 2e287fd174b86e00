# Readline breaks words at colons and equals signs: they are put together again, and what Readline believes to stand in front
# of the word is taken off the answers. Written for bash 3.2, which macOS still has.
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

  local current=${words[count - 1]} kind= line value cut=
  [[ $current == *[:=]* ]] && cut=${current%"${current##*[:=]}"}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z $kind ]]; then
      kind=${line:-words}
      continue
    fi
    value=${line%%$'\t'*}
    [[ $value == *[.=] ]] && compopt -o nospace 2>/dev/null
    # `%q`, never `compgen -W`: that would run a $(command) in the name of a server.
    [[ $current == [\"\']* ]] || printf -v value %q "$value"
    COMPREPLY+=("${value#"$cut"}")
  done < <(command trunkline __complete -- "${words[@]:1}" 2>/dev/null)

  [[ $kind == files || $kind == folders ]] || return 0
  compopt -o filenames 2>/dev/null
  [[ $kind == files ]] && kind=-f || kind=-d
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <(compgen "$kind" -- "${current#"$cut"}")
}
complete -F _trunkline trunkline
