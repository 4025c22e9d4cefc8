"""The scripts for bash, zsh and fish. All three have the same lists of words, as variables.

shtab 1.13 makes scripts from parsers too, and would replace this module but not `command`: a value
is one of argparse's `choices`, which KEY=VALUE and paths are not, so each list of words would be a
function in each shell. Its parser has either subcommands or arguments: `live`, which takes a
scenario, cannot have `live set` below it. In bash it offers nothing behind `--library=`, nor a
scenario behind `--set KEY=0.9`, which tests/test_completion.py asks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from slowhand.completion.command import Argument, Command, words

BASH = r"""
_slowhand() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    local command=${COMP_WORDS[1]} first=2 place=0 ended="" i
    COMPREPLY=()
    # readline takes "=" for a word of its own
    if [[ $word == "=" ]]; then
        word=""
    elif [[ $before == "=" ]]; then
        before=${COMP_WORDS[COMP_CWORD-2]}
    fi
    if ((COMP_CWORD == 1)); then
        _slowhand_offer "$word" "" "$_slowhand_commands"
        return
    fi
    if ((COMP_CWORD > 2)) && [[ " $_slowhand_pairs " == *" $command-${COMP_WORDS[2]} "* ]]; then
        command+=" ${COMP_WORDS[2]}"
        first=3
    fi
    for ((i = first; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} == "=" ]]; then
            ((i++))
        elif [[ -z $ended && ${COMP_WORDS[i]} == "--" ]]; then
            ended=yes
        elif [[ -z $ended && ${COMP_WORDS[i]} == -* ]]; then
            if _slowhand_value "$command" "${COMP_WORDS[i]}" "" "list"; then
                [[ ${COMP_WORDS[i+1]} == "=" ]] && ((i++))
                ((i++))
            fi
        else
            ((place++))
        fi
    done
    if [[ -z $ended ]] && _slowhand_value "$command" "$before" "$word" ""; then
        return
    elif [[ -z $ended && $word == -* ]]; then
        _slowhand_offer "$word" "" "$(_slowhand_options "$command")"
    else
        _slowhand_place "$command" "$place" "$word"
    fi
}

# _slowhand_offer WORD PATHS WORDS
_slowhand_offer() {
    local found
    while IFS= read -r found; do
        [[ -n $found ]] && COMPREPLY+=("$found")
    done < <(compgen -W "$3" -- "$1")
    case $2 in
    files)
        compopt -o filenames 2>/dev/null
        while IFS= read -r found; do COMPREPLY+=("$found"); done < <(compgen -f -- "$1")
        ;;
    folders)
        compopt -o filenames 2>/dev/null
        while IFS= read -r found; do COMPREPLY+=("$found"); done < <(compgen -d -- "$1")
        ;;
    esac
    if [[ ${#COMPREPLY[@]} -gt 0 && ${COMPREPLY[0]} == *= ]]; then
        compopt -o nospace 2>/dev/null
    fi
    return 0
}
"""

ZSH = r"""
# _slowhand_offer PATHS WORD...
_slowhand_offer() {
    local paths=$1 found=1
    shift
    local -a keys names
    keys=(${(M)@:#*=})
    names=(${@:#*=})
    (( $#keys )) && compadd -S '' -a keys && found=0
    (( $#names )) && compadd -a names && found=0
    case $paths in
    files) _files && found=0 ;;
    folders) _files -/ && found=0 ;;
    esac
    return found
}

_slowhand() {
    if (( CURRENT == 2 )); then
        _describe command _slowhand_commands
        return
    fi
    local command=$words[2]
    if (( CURRENT > 3 )) && [[ " $_slowhand_pairs " == *" $command-$words[3] "* ]]; then
        command+=" $words[3]"
        shift words
        (( CURRENT-- ))
    fi
    shift words
    (( CURRENT-- ))
    _slowhand_arguments "$command"
}
"""

FISH = r"""
function __slowhand_command
    set -l words (commandline -opc)
    set -l name $words[2]
    if contains -- "$words[2]-$words[3]" $__slowhand_pairs
        set name "$words[2] $words[3]"
    end
    echo $name
end

function __slowhand_in
    test (__slowhand_command) = "$argv[1]"
end

function __slowhand_first
    test (count (commandline -opc)) -eq 1
end

complete -c slowhand -e
complete -c slowhand -f
"""

BEGIN = "complete -c slowhand -n"
"""The first characters of a line of fish, before its condition."""


def bash(commands: Sequence[Command]) -> str:
    """The script for bash 4.4 and newer."""
    names, lists = _lists()
    first = [command.name for command in commands if " " not in command.name]
    return "\n".join(
        [
            "# Completion of slowhand for bash.",
            *(f"{name}={_quoted(' '.join(found))}" for name, found in lists.items()),
            f"_slowhand_commands={_quoted(' '.join([*first, '--help', '--version']))}",
            f"_slowhand_pairs={_quoted(' '.join(_pairs(commands)))}",
            BASH,
            "_slowhand_options() {",
            "    case $1 in",
            *(
                f"    {_quoted(command.name)})"
                f" echo {_quoted(' '.join(each.option for each in command.options))} ;;"
                for command in commands
            ),
            "    esac",
            "}",
            "",
            "# _slowhand_value COMMAND OPTION WORD QUIET: offers values; false if there are none",
            "_slowhand_value() {",
            "    case $1:$2 in",
            *(
                f"    {_quoted(f'{command.name}:{each.option}')})"
                f' [[ -n $4 ]] || _slowhand_offer "$3" {_bash_values(each, names)} ;;'
                for command in commands
                for each in command.options
                if each.metavar
            ),
            "    *) return 1 ;;",
            "    esac",
            "}",
            "",
            "# _slowhand_place COMMAND PLACE WORD: offers values",
            "_slowhand_place() {",
            "    case $1:$2 in",
            *(
                f"    {_quoted(f'{command.name}:')}{'*' if each.several else number})"
                f' _slowhand_offer "$3" {_bash_values(each, names)} ;;'
                for command in commands
                for number, each in enumerate(command.places)
            ),
            "    esac",
            "}",
            "",
            "complete -F _slowhand slowhand",
            "",
        ]
    )


def _bash_values(argument: Argument, names: dict[str, str]) -> str:
    return f'"{argument.paths}" "{_values(argument, names)}"'


def zsh(commands: Sequence[Command]) -> str:
    """The script for zsh."""
    names, lists = _lists()
    return "\n".join(
        [
            "#compdef slowhand",
            "# Completion of slowhand for zsh.",
            *(f"{name}=({' '.join(map(_quoted, found))})" for name, found in lists.items()),
            "_slowhand_commands=(",
            *(
                f"    {_quoted(f'{command.name}:{_escaped(command.about)}')}"
                for command in commands
                if " " not in command.name
            ),
            ")",
            f"_slowhand_pairs={_quoted(' '.join(_pairs(commands)))}",
            ZSH,
            "_slowhand_arguments() {",
            "    case $1 in",
            *(line for command in commands for line in _zsh_arguments(command, names)),
            "    esac",
            "}",
            "",
            "# As a file of $fpath it completes at once; read by source or eval, it is for later.",
            "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then",
            '    _slowhand "$@"',
            "else",
            "    compdef _slowhand slowhand",
            "fi",
            "",
        ]
    )


def _zsh_arguments(command: Command, names: dict[str, str]) -> Iterator[str]:
    yield f"    {_quoted(command.name)})"
    yield "        _arguments \\"
    places = {"*" if each.several else f"{n}": each for n, each in enumerate(command.places, 1)}
    options = {
        f"{'*' if each.several else ''}{each.option}[{_escaped(each.about)}]": each
        for each in command.options
    }
    for spec, each in (options | places).items():
        # With the space before the action, `_arguments` adds nothing to it.
        action = f" _slowhand_offer '{each.paths}' {_values(each, names)}"
        taken = f":{_escaped(each.metavar)}:{action}" if each.metavar else ""
        yield f"            {_quoted(spec + taken)} \\"
    yield "            && return"
    yield "        ;;"


def _escaped(text: str) -> str:
    """Text in a specification of `_arguments` or `_describe`."""
    for character in "\\[]:":
        text = text.replace(character, f"\\{character}")
    return text


def fish(commands: Sequence[Command]) -> str:
    """The script for fish 3."""
    names, lists = _lists()
    lines = ["# Completion of slowhand for fish."]
    lines += (f"set -g _{n} {' '.join(map(_fish_quoted, found))}" for n, found in lists.items())
    lines += [f"set -g __slowhand_pairs {' '.join(_pairs(commands))}", FISH]
    for option, about in (("help", "Show the commands"), ("version", "Show the version")):
        lines.append(f"{BEGIN} __slowhand_first -l {option} -d {_fish_quoted(about)}")
    for command in commands:
        first, _, second = command.name.partition(" ")
        about = _fish_quoted(command.about)
        at = f'"__slowhand_in {first}"' if second else "__slowhand_first"
        lines.append(f"{BEGIN} {at} -a {second or first} -d {about}")
        begin = f"{BEGIN} {_fish_quoted(f'__slowhand_in {_fish_quoted(command.name)}')}"
        for each in command.options:
            takes = f" {_fish_values(each, names)}" if each.metavar else ""
            about = _fish_quoted(each.about)
            lines.append(f"{begin} -l {each.option.removeprefix('--')}{takes} -d {about}")
        for each in command.places:
            if each.words or each.paths:
                values = _fish_values(each, names).replace("-r", "").replace("-x", "-f")
                lines.append(f"{begin} {values.strip()}")
    return "\n".join([*lines, ""])


def _fish_values(argument: Argument, names: dict[str, str]) -> str:
    """The value of an option: -r a value, -x no path, -F a path too."""
    found = f' -a "$_{names[argument.words]}"' if argument.words else ""
    if argument.paths == "folders":
        return f"-x{found} -a '(__fish_complete_directories)'"
    return ("-r -F" if argument.paths else "-x") + found


def _values(argument: Argument, names: dict[str, str]) -> str:
    """The words for an argument: the list by its variable, and the second words of commands."""
    found = f"${names[argument.words]}" if argument.words else ""
    return f"{found} {argument.seconds}".strip()


def _fish_quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _lists() -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """The variable of each list of words, and the words of each. Equal lists have the same."""
    found: dict[tuple[str, ...], str] = {}
    names = {
        metavar: found.setdefault(tuple(each), f"_slowhand_words_{len(found)}")
        for metavar, each in words().items()
    }
    return names, {name: each for each, name in found.items()}


def _pairs(commands: Sequence[Command]) -> list[str]:
    """Commands of two words, with a hyphen."""
    return [command.name.replace(" ", "-") for command in commands if " " in command.name]


def _quoted(text: str) -> str:
    """A word for bash and zsh."""
    escaped = text.replace("'", "'\\''")
    return f"'{escaped}'"
