import { listSettings } from '../../config/config.ts'
import { listChoices } from '../check-arguments.ts'
import { type Command, defineCommand, listWithSubcommands } from '../command.ts'
import { formatBash, formatFish, formatZsh, type ShellCommand, type ShellFlag } from './shells.ts'

const formats = { bash: formatBash, zsh: formatZsh, fish: formatFish } as const

/** `commands` is a function, because the list includes this command. */
export const createCompletionCommand = (commands: () => readonly Command[]): Command =>
  defineCommand({
    name: 'completion',
    about: 'print a script that completes commands and flags in a shell',
    forms: ['bash|zsh|fish'],
    details: `Store the script as in the examples, and open a new shell. The folder of the zsh script must be in fpath, before compinit.`,
    settings: [],
    examples: [
      'causeway completion bash >> ~/.bashrc',
      'causeway completion zsh > ~/.zfunc/_causeway',
      'causeway completion fish > ~/.config/fish/completions/causeway.fish',
    ],
    run({ args: [shell], print }) {
      print(formats[shell as keyof typeof formats](commands().map(describeCommand)))
      return 0
    },
  })

function describeCommand(command: Command): ShellCommand {
  const { name, about, forms, subcommands } = command
  const words = forms.flatMap((form) => listChoices(form.split(' ')[0] ?? ''))
  const flags = listWithSubcommands([command]).flatMap(describeFlags)
  const uniqueFlags = flags.filter(
    ({ name }, index) => flags.findIndex((flag) => flag.name === name) === index,
  )
  return { name, about, words: [...new Set([...words, ...subcommands.map(getLastWord)])], flags: uniqueFlags }
}

const describeSetting = (flag: string): string =>
  listSettings()
    .find((setting) => setting.flag === flag)
    ?.meaning.split(/[;:,]/)[0]
    ?.trim() ?? 'setting'

const getLastWord = ({ name }: Command): string => name.split(' ').at(-1) ?? ''

function describeFlags({ flags, settings }: Command): readonly ShellFlag[] {
  return [
    ...Object.entries(flags).map(([name, flag]) => ({ name, ...flag })),
    ...settings.map((flag) => ({ name: flag.slice(2), about: describeSetting(flag), value: '<value>' })),
    { name: 'help', about: 'flags and exit codes', short: 'h' },
  ]
}
