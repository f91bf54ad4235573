import { mebibyte } from '../mebibyte.ts'
import { held, type Limit, limitText, number, type Section } from '../report.ts'
import { type Contender, ours, reference } from './contenders.ts'
import type { Figures } from './relay-figures.ts'
import { unreadText } from './relay-unread.ts'
import { plan, type Relays } from './relays.ts'

/** Limits of a bridge. */
interface Budget {
  readonly what: string
  readonly figure: keyof Figures
  limit(version: string): Limit
}

/** Limit of the latency that the bridge adds to the median of a call, in milliseconds. */
export const addedLimit: Limit = { most: 0.25 }

/** Limit of idle memory by Node version, in MiB. */
export const idleLimit = (version: string): Limit => ({ most: version.startsWith('20.') ? 55 : 66 })

const most = (limit: number) => (): Limit => ({ most: limit })

const budgets: readonly Budget[] = [
  { what: `cold start, part of ${reference}'s`, figure: 'coldShare', limit: most(0.3) },
  { what: 'added to a call, p50, ms', figure: 'addedP50Ms', limit: () => addedLimit },
  { what: 'idle memory, MiB', figure: 'idleMib', limit: idleLimit },
  { what: `memory with ${unreadText} unread, MiB`, figure: 'unreadMib', limit: most(120) },
  {
    what: `calls/s at ${plan.atOnce.inFlight}, part of direct's`,
    figure: 'perSecondShare',
    limit: () => ({ least: 0.9 }),
  },
  { what: `CPU of a call at ${plan.atOnce.inFlight}, µs`, figure: 'burstCpuUs', limit: most(200) },
  { what: 'long answer, multiple of direct', figure: 'largeTimes', limit: most(2) },
  { what: 'memory after the calls, MiB', figure: 'afterCallsMib', limit: most(110) },
  { what: 'exit after the end of stdin, ms', figure: 'endMs', limit: most(100) },
]

/** The figures of a contender. */
export type Row = { readonly contender: Contender; readonly figures: Figures }

/** Returns the measured figures of our bridge next to their limits. */
export function budgetSection(relays: Relays, rows: readonly Row[]): Section {
  const own = rows.filter(({ contender }) => contender.program === ours)
  const verdict = ({ figure, limit }: Budget, { contender, figures }: Row): string =>
    held(figures[figure], limit(contender.version))
  const limits = ({ limit }: Budget): string =>
    [...new Set(own.map(({ contender }) => limitText(limit(contender.version))))].join(', ')
  return {
    title: 'The budgets of the bridge',
    about:
      'The built bundle with each version of Node. Different limits are listed in the order of the columns.',
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
