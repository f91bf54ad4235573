/** The text of `causeway --help`. */
import { settingTable } from './config.ts'

/** One screen: the commands, then every setting with its flag, variable and default. */
export function usage(): string {
  const rows = settingTable().map(
    ({ env, flag, default: value, meaning }) =>
      `  ${flag.padEnd(22)} ${env}\n      ${meaning} (default: ${value})`,
  )
  return [
    'Causeway: one local MCP server that every client shares.',
    '',
    'usage: causeway [serve]             serve until stopped',
    '       causeway tools               print every tool',
    '       causeway roots               print the folders added by hand',
    '       causeway roots add <folder>  let every app read below a folder, at once',
    '',
    'settings (flag, variable; order: flag, environment, --env-file <file>, causeway.config.json, default)',
    ...rows,
  ].join('\n')
}
