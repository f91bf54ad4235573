/**
 * `npm run check:long`: runs every check with its full counts, one part after the other, and stores the results in
 * docs/reliability.md. `npm run check:long -- soak fuzz` runs only these parts.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { machine } from '../bench/machine.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const report = join(root, 'docs/reliability.md')
const say = (line: string): void => void process.stderr.write(`check:long: ${line}\n`)

/** A part of the long check: a program of this checkout. */
interface Part {
  readonly name: string
  /** Description for the report. */
  readonly about: string
  /** Program and arguments, relative to the root of the checkout. */
  readonly args: readonly string[]
  /** Environment variables in addition to `CAUSEWAY_LONG`. */
  readonly env?: Readonly<Record<string, string>>
}

const condition = '--conditions=@causeway/source'
const tap = 'node_modules/tap/dist/esm/run.mjs'

/** All parts in the order in which they run. File patterns are expanded when a part starts. */
const parts: readonly Part[] = [
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
      'work on every store of a server that is killed fifty times, loses its workers fifty times, runs out of memory, has damaged or moved data, is backed up, and is stopped',
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
    args: [condition, 'test/soak/main.ts', '--only', 'bridges', '--seconds', '1800', '--bridges', '50'],
  },
  {
    name: 'product',
    about: 'every app under mixed clients for half an hour, first with restarts, then next to a control',
    args: [condition, 'test/soak/main.ts', '--only', 'product', '--seconds', '1800'],
  },
  {
    name: 'chaos',
    about: 'kills of servers, bridges and child processes, clients that vanish or do not read, full queues',
    args: [condition, 'test/soak/main.ts', '--only', 'chaos', '--seconds', '600'],
  },
  {
    name: 'attack',
    about:
      '64 mixed clients for three minutes while child processes are killed and expensive requests are sent; /health stays below 100 ms at the 99th percentile',
    args: [condition, 'test/soak/main.ts', '--only', 'attack', '--seconds', '180'],
  },
  {
    name: 'diagnose',
    about: 'planted faults of every kind and magnitude, with every lack of data: verdicts and shares',
    args: [condition, 'bench/main.ts', 'diagnose'],
  },
  {
    name: 'mutants',
    about:
      'small faults in the sources of the server, the bridge, the recordings and Replay; at least 85 % fail a test',
    args: ['--disable-warning=ExperimentalWarning', condition, 'test/mutation/check.ts'],
  },
]

async function run({ name, about, args, env }: Part): Promise<Outcome> {
  const facts = machine(root)
  const started = performance.now()
  const files = args.flatMap((one) => (one.includes('*') ? globSync(one, { cwd: root }) : [one]))
  const child = spawn(process.execPath, files, {
    cwd: root,
    env: { ...process.env, ...env, CAUSEWAY_LONG: 'true' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const output: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => {
    output.push(chunk)
    process.stdout.write(chunk)
  })
  const [code] = await once(child, 'close')
  const seconds = (performance.now() - started) / 1000
  return {
    name,
    about,
    isGood: code === 0,
    seconds,
    facts,
    summary: outputSummary(Buffer.concat(output).toString()),
  }
}

/** The result of a part. */
export interface Outcome {
  readonly name: string
  readonly about: string
  readonly isGood: boolean
  readonly seconds: number
  /** Machine, date and commit, as lines of text. */
  readonly facts: readonly string[]
  /** The end of its output: totals, or the report of a soak. */
  readonly summary: string
}

const head = `# Reliability

Results of \`npm run check:long\`: every check with its full counts. Each part below shows its last run with machine, date and
commit. \`npm run check:long -- soak\` runs a single part.
`

const marks = (name: string) => ({ first: `<!-- ${name}: begins -->`, last: `<!-- ${name}: ends -->` })

/** Replaces the part's section in the document, or appends it. */
export function withOutcome(document: string | undefined, outcome: Outcome): string {
  const text = document ?? head
  const { first, last } = marks(outcome.name)
  const block = `${first}\n\n${section(outcome)}\n\n${last}`
  const [start, end] = [text.indexOf(first), text.indexOf(last)]
  if (start === -1 || end < start) return `${text.trimEnd()}\n\n${block}\n`
  return text.slice(0, start) + block + text.slice(end + last.length)
}

function section({ name, about, isGood, seconds, facts, summary }: Outcome): string {
  const lines = [...facts, `${isGood ? 'passed' : 'FAILED'} after ${Math.round(seconds)} s`]
  return `## ${name}: ${about}\n\n${lines.map((line) => `- ${line}\n`).join('')}\n\`\`\`text\n${summary}\n\`\`\``
}

const totals = /^# \{ total: .*\}$/gm

/** Returns tap's totals with the failed tests, or the last 40 lines if the output has no totals. */
export function outputSummary(output: string): string {
  const last = output.match(totals)?.at(-1)
  if (last === undefined) return output.trim().split('\n').slice(-40).join('\n')
  const failed = output.match(/^not ok .*$/gm) ?? []
  return [...failed, last.slice(2)].join('\n')
}

if (process.argv[1] === import.meta.filename) {
  const selected = process.argv.slice(2)
  const unknown = selected.filter((name) => !parts.some((part) => part.name === name))
  if (unknown.length > 0) {
    say(`unknown part: ${unknown.join(', ')}; use one of ${parts.map(({ name }) => name).join(', ')}`)
    process.exitCode = 1
  } else
    for (const part of parts.filter(({ name }) => selected.length === 0 || selected.includes(name))) {
      say(part.name)
      const outcome = await run(part)
      const before = existsSync(report) ? readFileSync(report, 'utf8') : undefined
      writeFileSync(report, withOutcome(before, outcome))
      say(`${part.name}: ${outcome.isGood ? 'passed' : 'FAILED'} after ${Math.round(outcome.seconds)} s`)
      if (!outcome.isGood) process.exitCode = 1
    }
}
