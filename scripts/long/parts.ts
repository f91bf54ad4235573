/** A part of the long check: a program of this checkout, and what it shows. */
export interface Part {
  readonly name: string
  /** What it runs, for the report. */
  readonly about: string
  /** Program and arguments, from the root of the checkout. */
  readonly args: readonly string[]
  /** Settings beside `CAUSEWAY_LONG`. */
  readonly env?: Readonly<Record<string, string>>
}

const condition = '--conditions=@causeway/source'
const tap = 'node_modules/tap/dist/esm/run.mjs'

/** In the order in which they run; the files of a pattern are found when it does. */
export const parts: readonly Part[] = [
  {
    name: 'checks',
    about: 'unit and contract tests, every repetition at its full count, and coverage against its floors',
    args: ['scripts/run.mjs', 'test', '--coverage'],
  },
  {
    name: 'whole',
    about: 'end to end, real clients and the official conformance suite',
    args: [
      tap,
      '--disable-coverage',
      'test/{e2e,client,conformance,postgres,documented,recordings}/*.test.ts',
    ],
  },
  {
    name: 'town',
    about: 'five towns of minds for seven days each, and one whose server is killed twenty times',
    args: [tap, '--disable-coverage', 'test/town/*.test.ts'],
  },
  {
    name: 'living',
    about:
      'work on every store of a server that is killed fifty times, loses its workers fifty times, is short of memory, finds its data harmed or moved, is backed up, and is told to stop',
    args: [tap, '--disable-coverage', 'test/living/*.test.ts'],
  },
  {
    name: 'fuzz',
    about:
      'a hundred thousand inputs over every channel and tool of a real server, and as many lines through a bridge',
    args: [tap, '--disable-coverage', 'test/fuzz/*.test.ts'],
    env: { CAUSEWAY_FUZZ_LINES: '100000' },
  },
  {
    name: 'soak',
    about: 'fifty bridges for half an hour while the server is killed and restarted at random',
    args: [condition, 'scripts/soak.ts', '--only', 'bridges', '--seconds', '1800', '--bridges', '50'],
  },
  {
    name: 'product',
    about: 'every app under mixed clients for half an hour, first with restarts, then beside a control',
    args: [condition, 'scripts/soak.ts', '--only', 'product', '--seconds', '1800'],
  },
  {
    name: 'chaos',
    about: 'kills of servers, bridges and child processes, clients that vanish or do not read, full queues',
    args: [condition, 'scripts/soak.ts', '--only', 'chaos', '--seconds', '600'],
  },
]
