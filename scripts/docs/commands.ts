import { type Command, listWithSubcommands } from '../../server/src/cli/command.ts'
import { listExitCodes, listUsageForms } from '../../server/src/cli/help.ts'
import { codeSpan, table } from './table.ts'

/** Returns a table with one line per command. */
export const commandTable = (commands: readonly Command[]): string =>
  table(
    ['command', 'what it does'],
    commands.map(({ name, about }) => [codeSpan(`causeway ${name}`), about]),
  )

/** Returns a section for each command: usage, flags, exit codes, examples. */
export const commandReference = (commands: readonly Command[]): string =>
  listWithSubcommands(commands).map(section).join('\n\n')

function section(command: Command): string {
  const { name, about, details, flags, settings, examples } = command
  const own = Object.entries(flags)
  return [
    `## ${name}`,
    `${about[0]?.toUpperCase()}${about.slice(1)}.`,
    ['```text', ...listUsageForms(command), '```'].join('\n'),
    ...(details === undefined ? [] : [details]),
    ...(own.length === 0 ? [] : [flagTable(own)]),
    ...(settings.length === 0 || settings.length > 10
      ? []
      : [`Related settings: ${settings.map(codeSpan).join(', ')}.`]),
    table(['exit code', 'meaning'], listExitCodes(command)),
    ...(examples.length === 0 ? [] : [['```text', ...examples, '```'].join('\n')]),
  ].join('\n\n')
}

const flagTable = (own: readonly (readonly [string, Command['flags'][string]])[]): string =>
  table(
    ['flag', 'meaning'],
    own.map(([name, { short, value, about }]) => [
      [short === undefined ? '' : `-${short}`, `--${name}${value === undefined ? '' : ` ${value}`}`]
        .filter(Boolean)
        .map(codeSpan)
        .join(', '),
      about,
    ]),
  )
