import type { Diagnosis, Finding } from '../data/replay.ts'
import { formatNumber } from './text.ts'

/** Ids of floor and walls have bit 31 set. */
const environmentBit = 0x8000_0000

/** Describes a diagnosis without findings. It is good only if most of the laws that apply could be checked. */
export function describeClean({
  checked = [],
  not_checked = [],
}: Pick<Diagnosis, 'checked' | 'not_checked'>): { readonly severity: 'ok' | 'off'; readonly text: string } {
  const open = new Set(not_checked.map(({ law }) => law))
  if (open.size === 0) return { severity: 'ok', text: 'no finding' }
  const full = checked.filter((law) => !open.has(law)).length
  return {
    severity: full > open.size ? 'ok' : 'off',
    text: `no finding, ${full} of ${full + open.size} laws fully checked`,
  }
}

/** Describes a finding: `energy injection, body 2: 11.6 J (limit 0.0045)`. */
export function formatFinding({ kind, bodies, value, limit, unit }: Finding): string {
  const own = bodies.filter((id) => id < environmentBit)
  const names = [
    ...(own.length === 0 ? [] : [`${own.length === 1 ? 'body' : 'bodies'} ${own.join(', ')}`]),
    ...(own.length < bodies.length ? ['environment'] : []),
  ]
  const who = names.map((name) => `, ${name}`).join('')
  const amount = value === null ? '' : `: ${formatNumber(value)} ${unit}`.trimEnd()
  const bound = value === null || limit === null ? '' : ` (limit ${formatNumber(limit)})`
  return `${kind.replaceAll('_', ' ')}${who}${amount}${bound}`
}
