/** Settings that give figures to names: `debrief=10/100,*=500/2000`. What is given replaces the default of the same name. */
import { z } from 'zod'
import type { Rate } from '../domain/token-bucket.ts'

/** A table of figures by name. `off` leaves nothing in it, and so no limit. */
function byClass<Value>(fallback: string, read: (text: string) => Value | undefined) {
  const entry = z.string().transform((text, { addIssue }) => {
    const [, name = '', figures = ''] = /^\s*([a-z0-9.*_-]+)\s*=\s*(.+?)\s*$/i.exec(text) ?? []
    const value = read(figures)
    if (value !== undefined) return [name, value] as const
    addIssue(`not of the form of ${fallback.split(',')[0]}: ${text}`)
    return z.NEVER
  })
  const entries = z.array(entry)
  const defaults = Object.fromEntries(entries.parse(fallback.split(',')))
  const given = z
    .union([
      z.array(z.string()),
      z.string().transform((text) => text.split(',').filter((part) => part.trim() !== '')),
    ])
    .pipe(entries)
    .transform((pairs): Readonly<Record<string, Value>> => ({ ...defaults, ...Object.fromEntries(pairs) }))
  const off = z.literal('off').transform((): Readonly<Record<string, Value>> => ({}))
  return z.union([off, given]).default(defaults)
}

/** `10/100`: calls a second and calls at once. */
export const ratesByClass = (fallback: string) =>
  byClass<Rate>(fallback, (text) => {
    const [, perSecond, burst] = /^(\d+(?:\.\d+)?)\/(\d+)$/.exec(text) ?? []
    const rate = { perSecond: Number(perSecond), burst: Number(burst) }
    return rate.perSecond > 0 && rate.burst > 0 ? rate : undefined
  })

/** A whole number above zero. */
export const wholeByClass = (fallback: string) =>
  byClass<number>(fallback, (text) => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined))
