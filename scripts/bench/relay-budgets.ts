import { type Contender, ours, reference } from './contenders.ts'
import { mebibyte } from './mebibyte.ts'
import type { Figures } from './relay-figures.ts'
import { unreadText } from './relay-unread.ts'
import { plan, type Relays } from './relays.ts'
import { number, type Section } from './report.ts'

/** What a bridge is held to. */
interface Budget {
  readonly what: string
  readonly figure: keyof Figures
  limit(version: string): number
  readonly isFloor?: true
}

const budgets: readonly Budget[] = [
  { what: `cold start, part of ${reference}'s`, figure: 'coldShare', limit: () => 0.35 },
  { what: 'added to a call, p50, ms', figure: 'addedP50Ms', limit: () => 0.25 },
  { what: 'idle memory, MiB', figure: 'idleMib', limit: (version) => (version.startsWith('20.') ? 55 : 66) },
  { what: `memory with ${unreadText} unread, MiB`, figure: 'unreadMib', limit: () => 120 },
  {
    what: `calls/s at ${plan.atOnce.inFlight}, part of direct's`,
    figure: 'perSecondShare',
    limit: () => 0.9,
    isFloor: true,
  },
  { what: `CPU of a call at ${plan.atOnce.inFlight}, µs`, figure: 'burstCpuUs', limit: () => 200 },
  { what: 'long answer, multiple of direct', figure: 'largeTimes', limit: () => 2 },
  { what: 'memory after the calls, MiB', figure: 'afterCallsMib', limit: () => 110 },
  { what: 'exit after the end of stdin, ms', figure: 'endMs', limit: () => 100 },
]

/** The figures of a contender. */
export type Row = { readonly contender: Contender; readonly figures: Figures }

/** What was measured of ours beside what it is held to. */
export function budgetSection(relays: Relays, rows: readonly Row[]): Section {
  const own = rows.filter(({ contender }) => contender.program === ours)
  const verdict = ({ figure, limit, isFloor }: Budget, { contender, figures }: Row): string => {
    const value = figures[figure]
    const isMet = isFloor ? value >= limit(contender.version) : value <= limit(contender.version)
    if (Number.isNaN(value)) return number(value)
    return isMet ? number(value) : `${number(value)} (missed)`
  }
  const limits = ({ limit, isFloor }: Budget): string => {
    const texts = own.map(({ contender }) => `${isFloor ? '≥' : '≤'} ${number(limit(contender.version))}`)
    return [...new Set(texts)].join(', ')
  }
  return {
    title: 'The budgets of the bridge',
    about: 'Our built bundle with each Node. Limits that differ stand in the order of the columns.',
    head: ['', 'budget', ...own.map(({ contender }) => `Node ${contender.version}`)],
    rows: [
      ...budgets.map((budget) => [budget.what, limits(budget), ...own.map((row) => verdict(budget, row))]),
      [
        'of the idle memory Node alone, MiB',
        '',
        ...own.map(({ contender }) => number((relays.bare.get(contender.version) ?? Number.NaN) / mebibyte)),
      ],
    ],
  }
}
