import type { LogLine } from '../data/types.ts'

export const logLevels = [
  { level: 20, name: 'debug', severity: 'off' },
  { level: 30, name: 'info', severity: 'off' },
  { level: 40, name: 'warn', severity: 'warn' },
  { level: 50, name: 'error', severity: 'err' },
] as const

/** Returns the highest named level at or below a line's level. */
export const findLevel = ({ level }: LogLine): (typeof logLevels)[number] =>
  logLevels.findLast((candidate) => candidate.level <= level) ?? logLevels[0]

export function formatFields({ level: _, time: _time, msg: _msg, request_id, ...fields }: LogLine): string {
  return Object.entries(request_id === undefined ? fields : { ...fields, request_id })
    .map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join(' ')
}
