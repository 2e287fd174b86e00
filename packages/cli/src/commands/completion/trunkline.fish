function __trunkline_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (command trunkline __complete -- $words[2..-1] "$current" 2>/dev/null)
    printf '%s\n' $lines[2..-1]
    set -l path (string replace -r -- '^--[^=]*=' '' "$current")
    set -l front (string sub -l (math (string length -- "$current") - (string length -- "$path")) -- "$current")
    switch "$lines[1]"
        case files
            printf "$front%s\n" (__fish_complete_path "$path")
        case folders
            printf "$front%s\n" (__fish_complete_directories "$path" '')
    end
end
complete -c trunkline -f -a '(__trunkline_complete)'
