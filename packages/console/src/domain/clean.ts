import type { Diagnosis } from '../data/replay.ts'

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
