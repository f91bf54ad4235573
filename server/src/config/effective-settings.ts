import { delimiter } from 'node:path'
import { isObject } from '@causeway/protocol'
import { z } from 'zod'
import { listSettings, type SettingKey, settings } from './config.ts'
import type { Invocation } from './read-config.ts'
import type { Setting } from './settings/setting.ts'

export const explicitSettingSchema = z.object({ key: z.string(), value: z.string(), source: z.string() })

/** `value` is `[secret]` for a secret. */
type ExplicitSettingRow = z.infer<typeof explicitSettingSchema>

/** A setting whose `source` is how it was given, or `default`. */
interface EffectiveSetting extends ExplicitSettingRow {
  readonly env: string
}

export function listExplicitSettings({
  config,
  explicitSettings,
}: Pick<Invocation, 'config' | 'explicitSettings'>): readonly ExplicitSettingRow[] {
  return (Object.keys(explicitSettings) as SettingKey[]).map((key) => ({
    key,
    value: formatValue(config[key], settings[key]),
    source: explicitSettings[key]?.source ?? '',
  }))
}

export function listEffectiveSettings(
  explicitSettings: readonly ExplicitSettingRow[],
): readonly EffectiveSetting[] {
  const rowsByKey = new Map(explicitSettings.map((row) => [row.key, row]))
  return listSettings().map(({ key, env, default: value }) => {
    const row = rowsByKey.get(key)
    return { key, env, value: row?.value ?? value.replaceAll('`', ''), source: row?.source ?? 'default' }
  })
}

function formatValue(value: unknown, { isSecret, defaultText }: Setting): string {
  if (isSecret) return '[secret]'
  if (value === undefined) return defaultText ?? 'none'
  if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
    return value.length === 0 ? 'none' : value.join(delimiter)
  if (typeof value === 'string') return value.replace(/(:\/\/)[^/\s?#]*@/, '$1[secret]@')
  return isObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value)
}
