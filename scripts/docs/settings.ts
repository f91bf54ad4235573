import { codeSpan, table } from './table.ts'

/** A setting in the documentation. */
export interface SettingLine {
  readonly key: string
  readonly env: string
  readonly flag: string
  readonly default: string
  readonly meaning: string
}

/** Returns the table of the server's settings. */
export function settingsTable(settings: readonly SettingLine[]): string {
  return table(
    ['environment', 'flag', 'in causeway.config.json', 'default', 'meaning'],
    settings.map(({ env, flag, key, default: value, meaning }) => [
      codeSpan(env),
      codeSpan(flag),
      codeSpan(key),
      value,
      meaning,
    ]),
  )
}
