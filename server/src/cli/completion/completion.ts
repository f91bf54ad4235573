import { listChoices } from '../check-arguments.ts'
import { type Command, defineCommand } from '../command.ts'
import { formatBash, formatFish, formatZsh, type ShellCommand, type ShellFlag } from './shells.ts'

const formats = { bash: formatBash, zsh: formatZsh, fish: formatFish } as const

/** `commands` is a function because this command completes itself, too. */
export const completionCommand = (commands: () => readonly Command[]): Command =>
  defineCommand({
    name: 'completion',
    about: 'print a script that completes commands and flags in a shell',
    forms: ['bash|zsh|fish'],
    flags: {},
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

function describeCommand({ name, about, forms = [], flags, settings = [] }: Command): ShellCommand {
  const own = Object.entries(flags).map(
    ([flag, { value, short, about }]): ShellFlag => ({
      name: flag,
      about,
      takesValue: value !== undefined,
      ...(short !== undefined && { short }),
    }),
  )
  const related = settings.map(
    (flag): ShellFlag => ({ name: flag.slice(2), about: 'setting', takesValue: true }),
  )
  const help: ShellFlag = { name: 'help', about: 'flags and exit codes', takesValue: false, short: 'h' }
  const words = forms.flatMap((form) => listChoices(form.split(' ')[0] ?? ''))
  return { name, about, words: [...new Set(words)], flags: [...own, ...related, help] }
}
