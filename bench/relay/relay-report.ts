import { mebibyte } from '../mebibyte.ts'
import { number, type Section } from '../report.ts'
import { median } from '../rounds.ts'
import { budgetSection } from './relay-budgets.ts'
import { computeFigures, type Figures, medianRound, present } from './relay-figures.ts'
import { endPatienceMs } from './relay-start.ts'
import { unreadText } from './relay-unread.ts'
import { alone, direct, plan, type Relays } from './relays.ts'

/** Returns the tables of a run: our figures against their limits, then all figures. */
export function relaySections(relays: Relays): Section[] {
  const rows = relays.contenders.map((contender) => ({
    contender,
    figures: computeFigures(relays, contender),
  }))
  const cells = (of: (figures: Figures) => readonly number[]) =>
    rows.map(({ contender, figures }) => [contender.name, ...of(figures).map(number)])
  const bare = [...relays.bare].map(([version, idle]) => ({
    name: alone(version),
    coldMs: medianRound(relays.starts.get(alone(version))?.map((one) => one?.coldMs)),
    idle,
  }))
  return [
    budgetSection(relays, rows),
    {
      title: 'Start and end',
      about:
        'Cold start: from the start of the process to the response of the first tools/list. Exit: from the end of stdin to the end of the process. ' +
        `${plan.starts.rounds} interleaved rounds; the share of mcp-remote's time is within a round and with the same Node. ∞: killed after ${number(endPatienceMs)} ms.`,
      head: ['', 'cold ms', 'max', 'of mcp-remote', 'exit ms'],
      rows: [
        ...cells((one) => [one.coldMs, one.coldMaxMs, one.coldShare, one.endMs]),
        ...bare.map(({ name, coldMs }) => [name, number(coldMs), '–', '–', '–']),
      ],
    },
    callSection(relays, cells),
    {
      title: `A response of ${plan.large.bytes / 1e6} MB`,
      about: `Median of ${plan.large.rounds} interleaved rounds; the multiple is within a round.`,
      head: ['', 'ms', 'of direct'],
      rows: [
        [direct, number(medianRound(relays.large.get(direct))), '1'],
        ...cells((one) => [one.largeMs, one.largeTimes]),
      ],
    },
    {
      title: 'Memory',
      about:
        'Resident memory of the process in MiB: one second after the first list, after all calls above, and after the long responses; then the maximum of another process while ' +
        `its client leaves ${unreadText} unread, and until the client has read them.`,
      head: ['', 'idle', 'after calls', 'after long', 'unread', 'then read'],
      rows: [
        ...cells((one) => [one.idleMib, one.afterCallsMib, one.afterLargeMib, one.unreadMib, one.readMib]),
        ...bare.map(({ name, idle }) => [name, number(idle / mebibyte), '–', '–', '–', '–']),
      ],
    },
  ]
}

function callSection(
  relays: Relays,
  cells: (of: (figures: Figures) => readonly number[]) => readonly (readonly string[])[],
): Section {
  const { inFlight } = plan.atOnce
  const inTurn = present(relays.inTurn.get(direct))
  const atOnce = present(relays.atOnce.get(direct))
  return {
    title: 'Calls of a trivial tool',
    about:
      `Sequential: ${plan.inTurn.rounds} interleaved rounds of ${plan.inTurn.calls} calls. Concurrent: ${plan.atOnce.rounds} rounds of ${plan.atOnce.ms} ms with ${inFlight} calls in flight. ` +
      'Medians of the rounds. Added: the difference to direct HTTP within a round. CPU: only the bridge, per call over all rounds.',
    head: [
      '',
      'p50 ms',
      'p95 ms',
      'added p50',
      'added p95',
      'CPU µs',
      `calls/s at ${inFlight}`,
      'of direct',
      `CPU µs at ${inFlight}`,
    ],
    rows: [
      [
        direct,
        number(median(inTurn.map((round) => round.p50Ms))),
        number(median(inTurn.map((round) => round.p95Ms))),
        '0',
        '0',
        '–',
        number(median(atOnce.map((round) => round.calls / round.seconds))),
        '1',
        '–',
      ],
      ...cells((one) => [
        one.p50Ms,
        one.p95Ms,
        one.addedP50Ms,
        one.addedP95Ms,
        one.cpuUs,
        one.perSecond,
        one.perSecondShare,
        one.burstCpuUs,
      ]),
    ],
  }
}
