/** The texts of `causeway --help` and `causeway <command> --help`. */
import { settingTable } from '../config.ts'
import type { Command } from './command.ts'

/** The column in which the meaning of a flag begins. */
const column = 26

/** One screen: every command, and where to read on. */
export function usage(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  return [
    'Causeway: one local MCP server that every client shares.',
    '',
    'usage: causeway                      serve until stopped',
    '       causeway <command> [flags]',
    '       causeway <command> --help     what a command takes, and its exit codes',
    '',
    'commands:',
    ...commands.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`),
    '',
    'flags of every command:',
    ...lines('--data-dir <folder>', 'where Causeway keeps its files (CAUSEWAY_DATA_DIR)'),
    ...lines('--env-file <file>', 'settings as lines of KEY=value'),
    ...lines('-h, --help', ''),
    ...lines('-v, --version', ''),
    '',
    'Every setting is a flag too; `causeway serve --help` lists them with their variables and defaults.',
  ].join('\n')
}

/** Everything about one command. */
export function commandHelp(command: Command): string {
  const { about, details, flags, settings = [], examples = [] } = command
  const asked = settingTable().filter(({ flag }) => settings.includes(flag))
  return [
    about,
    '',
    ...formsOf(command).map((form, at) => `${at === 0 ? 'usage: ' : '       '}${form}`),
    ...(details === undefined ? [] : ['', details]),
    ...section(
      'flags',
      Object.entries(flags).flatMap(([name, { value, short, about }]) =>
        lines(
          `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
          about,
        ),
      ),
    ),
    ...section(
      'settings (flag; variable)',
      asked.flatMap(({ flag, env, meaning, default: value }) =>
        lines(flag, `${env}: ${meaning} (default: ${value})`),
      ),
    ),
    ...section(
      'exit codes',
      exitCodes(command).map(([code, meaning]) => `  ${code}  ${meaning}`),
    ),
    ...section(
      'examples',
      examples.map((example) => `  ${example}`),
    ),
  ].join('\n')
}

/** `causeway roots add <folder>`, and the other forms. */
export const formsOf = ({ name, forms, flags }: Command): readonly string[] =>
  forms.map((form) =>
    ['causeway', name, form, Object.keys(flags).length > 0 ? '[flags]' : ''].filter(Boolean).join(' '),
  )

/** Every exit code with what it means. */
export const exitCodes = ({ exits = {} }: Command): readonly (readonly [string, string])[] =>
  Object.entries({ 0: 'done', 1: 'it failed', 2: 'the command line or a setting is wrong', ...exits })

const section = (title: string, text: readonly string[]): readonly string[] =>
  text.length === 0 ? [] : ['', `${title}:`, ...text]

const lines = (flag: string, about: string): readonly string[] =>
  flag.length + 2 < column || about === ''
    ? [`  ${flag.padEnd(about === '' ? 0 : column - 2)}${about}`]
    : [`  ${flag}`, `${' '.repeat(column)}${about}`]
