_trunkline() {
  local line kind tab=$'\t'
  local -a lines values shown open_values open_shown
  lines=("${(@f)$(command trunkline __complete -- "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
  kind=$lines[1]
  for line in "${(@)lines[2,-1]}"; do
    local value=${line%%$tab*} about=${line#*$tab}
    local text=$value
    [[ -n $about ]] && text="$value  -- $about"
    if [[ $value == *[.=] ]]; then
      open_values+=("$value") open_shown+=("$text")
    else
      values+=("$value") shown+=("$text")
    fi
  done
  (( $#values )) && compadd -l -d shown -a values
  (( $#open_values )) && compadd -S '' -l -d open_shown -a open_values
  case $kind in
    files) [[ $PREFIX == --*=* ]] && compset -P '*='; _files ;;
    folders) [[ $PREFIX == --*=* ]] && compset -P '*='; _files -/ ;;
  esac
}
compdef _trunkline trunkline
