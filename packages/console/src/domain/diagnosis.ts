import type { Diagnosis, Finding } from '../data/replay.ts'

/** The severity is `ok` only if most of the laws that apply could be checked. */
export function describeNoFindings({
  checked = [],
  not_checked = [],
}: Pick<Diagnosis, 'checked' | 'not_checked'>): { readonly severity: 'ok' | 'off'; readonly text: string } {
  const open = new Set(not_checked.map(({ law }) => law))
  if (open.size === 0) return { severity: 'ok', text: 'no finding' }
  const fullCount = checked.filter((law) => !open.has(law)).length
  return {
    severity: fullCount > open.size ? 'ok' : 'off',
    text: `no finding, ${fullCount} of ${fullCount + open.size} laws fully checked`,
  }
}

/** Returns a finding's sentence without its frames: `Body 2 gains energy without a cause (11.6 J, limit 0.0045 J).` */
export function formatFinding({ sentence }: Finding): string {
  const text = sentence.replace(/^Frames? \d+( to \d+)?: /, '')
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}

/** Returns a finding's sentence without frames, quantity and advice: `Body 2 gains energy without a cause`. */
export const formatFindingTitle = (finding: Finding): string =>
  formatFinding(finding).replace(/ \([^()]*\)\..*$/s, '')
