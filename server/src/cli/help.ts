import { listSettings } from '../config/config.ts'
import type { Command } from './command.ts'
import { formatTable } from './format.ts'

const column = 26

export function formatUsage(commands: readonly Command[]): string {
  return [
    'Causeway: one local MCP server that every client shares.',
    '',
    'usage: causeway <command> [flags]',
    '',
    'causeway serve runs the server, also without the word serve. causeway <command> --help lists the flags, exit codes and',
    'examples of a command.',
    '',
    'commands:',
    ...formatTable(
      commands.map(({ name, about }) => [name, about]),
      '  ',
    ),
    '',
    'flags of every command:',
    ...formatFlag('--data-dir <folder>', 'the folder of the data files (CAUSEWAY_DATA_DIR)'),
    ...formatFlag('--env-file <file>', 'settings as lines of KEY=value'),
    ...formatFlag('-h, --help', ''),
    ...formatFlag('-v, --version', ''),
    '',
    'Every setting is also a flag: see causeway serve --help.',
  ].join('\n')
}

export function formatCommandHelp(command: Command): string {
  const { about, details, flags, settings, examples } = command
  const ownFlags = Object.entries(flags).flatMap(([name, { value, short, about }]) =>
    formatFlag(
      `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
      about,
    ),
  )
  const relatedSettings = listSettings()
    .filter(({ flag }) => settings.includes(flag))
    .flatMap(({ flag, env, meaning, default: value }) =>
      formatFlag(flag, `${env}: ${meaning} (default: ${value})`),
    )
  return [
    about,
    '',
    ...listUsageForms(command).map((form, index) => `${index === 0 ? 'usage: ' : '       '}${form}`),
    ...(details === undefined ? [] : ['', details]),
    ...formatSection(
      'subcommands',
      command.subcommands.flatMap(({ name, about }) => formatFlag(name, about)),
    ),
    ...formatSection('flags', ownFlags),
    ...formatSection(
      'settings that it reads, as flags; variables of the environment do the same',
      relatedSettings,
    ),
    ...formatSection(
      'exit codes',
      listExitCodes(command).map(([code, meaning]) => `  ${code}  ${meaning}`),
    ),
    ...formatSection(
      'examples',
      examples.map((example) => `  ${example}`),
    ),
  ].join('\n')
}

export const listUsageForms = ({ name, forms, flags }: Command): readonly string[] =>
  forms.map((form) =>
    ['causeway', name, form, Object.keys(flags).length > 0 ? '[flags]' : ''].filter(Boolean).join(' '),
  )

export const listExitCodes = ({ exits }: Command): readonly (readonly [string, string])[] =>
  Object.entries({ 0: 'success', 1: 'failure', 2: 'the command line or a setting is invalid', ...exits })

const formatSection = (title: string, text: readonly string[]): readonly string[] =>
  text.length === 0 ? [] : ['', `${title}:`, ...text]

const formatFlag = (flag: string, about: string): readonly string[] =>
  flag.length + 2 < column || about === ''
    ? [`  ${flag.padEnd(about === '' ? 0 : column - 2)}${about}`]
    : [`  ${flag}`, `${' '.repeat(column)}${about}`]
