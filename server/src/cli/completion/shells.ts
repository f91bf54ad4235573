import type { CommandFlag } from '../command.ts'

export interface ShellFlag extends Pick<CommandFlag, 'about' | 'short' | 'value'> {
  readonly name: string
}

export interface ShellCommand {
  readonly name: string
  readonly about: string
  readonly words: readonly string[]
  readonly flags: readonly ShellFlag[]
}

/** Returns a script for bash 3.2 or newer. */
export function formatBash(commands: readonly ShellCommand[]): string {
  const cases = commands.map(
    ({ name, words, flags }) =>
      `    ${name}) words='${[...words, ...flags.map((flag) => `--${flag.name}`)].join(' ')}' ;;`,
  )
  return `_causeway() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=''
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words='${commands.map(({ name }) => name).join(' ')} --help --version'; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _causeway causeway`
}

export function formatZsh(commands: readonly ShellCommand[]): string {
  const names = commands.map(({ name, about }) => `    ${quote(`${name}:${about}`)}`)
  const cases = commands.map(({ name, words, flags }) => {
    const specs = flags.map(
      (flag) =>
        `${quote(`--${flag.name}[${escapeZsh(flag.about)}]${flag.value === undefined ? '' : ':value:_files'}`)}`,
    )
    const firstArgument = words.length === 0 ? "'*:file:_files'" : quote(`1:argument:(${words.join(' ')})`)
    return `    ${name}) _arguments ${[...specs, firstArgument].join(' ')} ;;`
  })
  return `#compdef causeway
_causeway() {
  local -a commands
  commands=(
${names.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
${cases.join('\n')}
  esac
}
_causeway "$@"`
}

/** Completes words as the first argument; later arguments are files. */
export function formatFish(commands: readonly ShellCommand[]): string {
  const lines = commands.flatMap(({ name, about, words, flags }) => [
    `complete -c causeway -f -n '__causeway_words 1' -a ${name} -d ${quote(about)}`,
    ...words.map((word) => `complete -c causeway -f -n '__causeway_words 2 ${name}' -a ${word}`),
    ...flags.map(({ name: flag, about, short, value }) =>
      [
        `complete -c causeway -n '__causeway_command ${name}' -l ${flag}`,
        ...(short === undefined ? [] : [`-s ${short}`]),
        ...(value === undefined ? [] : ['-r']),
        `-d ${quote(about)}`,
      ].join(' '),
    ),
  ])
  return `# Whether the command is the argument.
function __causeway_command
  set -l words (commandline -opc)
  test (count $words) -gt 1; and test $words[2] = $argv[1]
end

# Whether the line has this number of words, of which the second is the other argument, if any.
function __causeway_words
  set -l words (commandline -opc)
  test (count $words) -eq $argv[1]; or return 1
  test (count $argv) -lt 2; or test $words[2] = $argv[2]
end

${lines.join('\n')}`
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const escapeZsh = (text: string): string => text.replaceAll(/[[\]:\\]/g, '\\$&')
