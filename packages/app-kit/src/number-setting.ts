import type { Env } from './context.ts'

/** A setting that is a number; undefined where none was given, and whoever owns the default fills it in. */
export function numberSetting(settings: Env['settings'], name: string): number | undefined {
  const value = settings[name]
  return typeof value === 'number' ? value : undefined
}
