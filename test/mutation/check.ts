/**
 * Mutation check: `npm run check:long -- mutants`. Applies small faults to the sources, one at a time and in a copy of the
 * checkout, and runs the tests that evaluate the changed expression until one fails: first those of the mutant's package, then,
 * for the survivors, all others. Fails if fewer than 85 % are found.
 *
 * Settings: `CAUSEWAY_MUTANTS` (number of mutants, 60), `CAUSEWAY_MUTANTS_SEED` (1), `CAUSEWAY_MUTANTS_JOBS` (1), and
 * `CAUSEWAY_MUTANTS_SECONDS` (stop after this time; the next run continues). Results are stored in `.tap/mutants-<seed>.json`.
 * A run keeps the results of an earlier one whose source and test files are unchanged; delete the file to start again.
 */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { files, repository } from '../tree.ts'
import { Checkout } from './checkout.ts'
import { equivalents } from './equivalents.ts'
import {
  applyMutant,
  applyProbes,
  apportion,
  digest,
  findMutants,
  type Mutant,
  selectMutants,
  shuffleMutants,
} from './find-mutants.ts'

const groups = ['server', 'bridge', 'packages/recording', 'packages/app-replay']
const minKillRate = 0.85

/** The regular test files that import the groups, see `.taprc`. */
const testPatterns = [
  ...groups.map((group) => `${group}/test/**/*.test.ts`),
  'test/*.test.ts',
  'test/e2e/{replay,minds,debrief,help,toolvault,trm}.test.ts',
]
/** Tests of the repository, not of its programs: they install packages or read the sources as text. */
const excludedTests = ['architecture', 'bench', 'bootstrap', 'repository']

interface Baseline {
  readonly testDigest: string
  readonly mutants: string
  /** Undefined if the test fails without a mutant. */
  readonly ms?: number
  /** Ids of the mutants whose place the test evaluates; undefined if the test fails with probes. */
  readonly reached?: readonly string[]
}

interface Verdict {
  readonly sourceDigest: string
  readonly outcome: 'killed' | 'survived'
  readonly killer?: string
  readonly killerDigest?: string
  /** Whether the killer did not end in time. */
  readonly timedOut?: true
  /** Number of test files that were run. */
  readonly runs: number
}

interface State {
  /** Digest of all source and test files. */
  tree?: string
  /** Digest of a source file by mutants of it that do not compile. */
  rejected: Record<string, string>
  baselines: Record<string, Baseline>
  verdicts: Record<string, Verdict>
  /** Test files that a mutant has passed, by its id, until it has a verdict. */
  passed: Record<string, string[]>
}

const setting = (name: string, fallback: string) => process.env[name] || fallback
const count = Number(setting('CAUSEWAY_MUTANTS', '60'))
const seed = setting('CAUSEWAY_MUTANTS_SEED', '1')
const jobs = Number(setting('CAUSEWAY_MUTANTS_JOBS', '1'))
const deadline = performance.now() + Number(setting('CAUSEWAY_MUTANTS_SECONDS', 'Infinity')) * 1000

const source = (file: string) => readFileSync(join(repository, file), 'utf8')
const digests = new Map<string, string>()
const fileDigest = (file: string) => {
  const known = digests.get(file) ?? digest(source(file))
  digests.set(file, known)
  return known
}
const progress = (line: string) => void process.stderr.write(`mutants: ${line}\n`)

class MutationCheck {
  readonly #stateFile = join(repository, `.tap/mutants-${seed}.json`)
  readonly #state: State
  readonly #checkouts: Checkout[] = []
  readonly #tests: readonly string[]

  constructor() {
    this.#state = readState(this.#stateFile)
    const excluded = new Set(excludedTests.map((name) => `test/${name}.test.ts`))
    this.#tests = globSync(testPatterns, { cwd: repository })
      .filter((file) => !excluded.has(file))
      .sort()
    const code = files(repository).filter(
      (file) =>
        /\.(ts|mjs|js)$|(^|\/)package(-lock)?\.json$/.test(file) && !file.startsWith('test/mutation/'),
    )
    const tree = digest(code.map(fileDigest).join('\n'))
    // A changed file may let a test reach or find what it did not before.
    if (this.#state.tree !== tree) {
      for (const [id, { outcome }] of Object.entries(this.#state.verdicts))
        if (outcome === 'survived') delete this.#state.verdicts[id]
      this.#state.passed = {}
    }
    this.#state.tree = tree
  }

  /** Returns whether the check is complete and passed. */
  async run(): Promise<boolean> {
    for (let job = 0; job < jobs; job++) this.#checkouts.push(new Checkout(repository))
    const mutants = await this.#select()
    for (const group of groups) {
      const own = this.#tests.filter((test) => test.startsWith(`${group}/`))
      await this.#measureTests(own, mutants)
      const inGroup = mutants.filter(({ file }) => file.startsWith(`${group}/`))
      await this.#judgeAll(inGroup, own)
    }
    if (mutants.some((mutant) => this.#knownVerdict(mutant) === undefined)) {
      await this.#measureTests(this.#tests, mutants)
      await this.#judgeAll(mutants, this.#tests)
    }
    return this.#report(mutants)
  }

  dispose(): void {
    for (const checkout of this.#checkouts) checkout.remove()
  }

  /** Selects mutants that compile, in proportion to the size of each group. */
  async #select(): Promise<Mutant[]> {
    const checkout = this.#firstCheckout()
    const compiler = 'node_modules/typescript/bin/tsc'
    progress('compiling')
    const build = await checkout.run([compiler, '-b', 'server', 'bridge'], 600_000)
    if (!build.passed) throw new Error(`the sources do not compile:\n${build.output}`)
    const sources = groups.map((group) => globSync(`${group}/src/**/*.ts`, { cwd: repository }).sort())
    const sizes = sources.map((names) =>
      names.reduce((sum, name) => sum + source(name).split('\n').length, 0),
    )
    const shares = apportion(count, sizes)
    const selected: Mutant[] = []
    for (const [index, group] of groups.entries()) {
      const found = (sources[index] ?? []).flatMap((file) => findMutants(file, source(file)))
      const compiles = (mutant: Mutant) => this.#compiles(mutant, group)
      selected.push(...(await selectMutants(shuffleMutants(found, seed), shares[index] ?? 0, compiles)))
      progress(`${group}: ${shares[index]} of ${found.length} mutants selected`)
    }
    this.#save()
    return selected
  }

  async #compiles(mutant: Mutant, group: string): Promise<boolean> {
    const { id, file } = mutant
    if (this.#state.rejected[id] === fileDigest(file)) return false
    if (this.#state.verdicts[id]?.sourceDigest === fileDigest(file)) return true
    const checkout = this.#firstCheckout()
    checkout.write(file, applyMutant(source(file), mutant))
    const { passed } = await checkout.run(
      ['node_modules/typescript/bin/tsc', '-p', group, '--noEmit'],
      300_000,
    )
    checkout.restore(file)
    if (!passed) this.#state.rejected[id] = fileDigest(file)
    return passed
  }

  /** Runs test files once without faults: how long each takes, and which mutated places it evaluates. */
  async #measureTests(tests: readonly string[], mutants: readonly Mutant[]): Promise<void> {
    const ids = digest(mutants.map(({ id }) => id).join('\n'))
    const missing = tests.filter((test) => {
      const known = this.#state.baselines[test]
      return known?.testDigest !== fileDigest(test) || known.mutants !== ids
    })
    let done = 0
    await this.#forEach(missing, async (test, checkout) => {
      const log = join(checkout.folder, '.reached')
      checkout.write('.reached', '')
      const mutated = new Set(mutants.map(({ file }) => file))
      for (const file of mutated) {
        const inFile = mutants.filter((mutant) => mutant.file === file)
        checkout.write(file, applyProbes(source(file), inFile, log))
      }
      const probed = await checkout.test(test, 300_000)
      for (const file of mutated) checkout.restore(file)
      const reached = checkout.read('.reached').split('\n').filter(Boolean)
      const plain = probed.passed ? probed : await checkout.test(test, 300_000)
      this.#state.baselines[test] = {
        testDigest: fileDigest(test),
        mutants: ids,
        ...(plain.passed && { ms: plain.ms }),
        ...(probed.passed && { reached: [...new Set(reached)] }),
      }
      this.#save()
      const result = plain.passed ? `${Math.round(plain.ms)} ms` : `fails without a mutant:\n${plain.output}`
      progress(`test file ${++done} of ${missing.length}: ${test}: ${result}`)
    })
  }

  #knownVerdict(mutant: Mutant): Verdict | undefined {
    const { id, file } = mutant
    // All tests would run, because none of them can find it.
    if (findEquivalent(mutant)) return { sourceDigest: fileDigest(file), outcome: 'survived', runs: 0 }
    const known = this.#state.verdicts[id]
    if (known?.sourceDigest !== fileDigest(file)) return undefined
    if (known.killer === undefined) return known
    const isCurrent = this.#tests.includes(known.killer) && known.killerDigest === fileDigest(known.killer)
    return isCurrent ? known : undefined
  }

  /** Runs `tests` for the mutants without a verdict. */
  async #judgeAll(mutants: readonly Mutant[], tests: readonly string[]): Promise<void> {
    const open = mutants.filter((mutant) => this.#knownVerdict(mutant) === undefined)
    await this.#forEach(open, async (mutant, checkout) => {
      const verdict = await this.#judge(mutant, tests, checkout)
      if (verdict === undefined) return
      this.#state.verdicts[mutant.id] = verdict
      this.#save()
      const { outcome, killer, timedOut, runs } = verdict
      const found =
        outcome === 'killed' ? `killed by ${killer}${timedOut ? ' after its timeout' : ''}` : outcome
      progress(`${describe(mutant)}: ${found}, ${runs} test files run`)
    })
  }

  /** Returns `undefined` if `tests` pass and others are left, or if the time is over. */
  async #judge(mutant: Mutant, tests: readonly string[], checkout: Checkout): Promise<Verdict | undefined> {
    const { file } = mutant
    const passed = this.#state.passed[mutant.id] ?? []
    this.#state.passed[mutant.id] = passed
    checkout.write(file, applyMutant(source(file), mutant))
    try {
      for (const { test, timeoutMs } of this.#reachingTests(mutant, tests)) {
        if (performance.now() > deadline) return undefined
        if (passed.includes(test)) continue
        const first = await checkout.test(test, timeoutMs)
        // A test that fails now and then must not count.
        const second = first.passed ? first : await checkout.test(test, timeoutMs)
        if (second.passed) {
          passed.push(test)
          this.#save()
          continue
        }
        return {
          sourceDigest: fileDigest(file),
          outcome: 'killed',
          killer: test,
          killerDigest: fileDigest(test),
          ...(second.timedOut && { timedOut: true }),
          runs: passed.length + 1,
        }
      }
    } finally {
      checkout.restore(file)
    }
    if (tests.length < this.#tests.length) return undefined
    return { sourceDigest: fileDigest(file), outcome: 'survived', runs: passed.length }
  }

  /** The tests that evaluate the mutant's place, the fastest first; last those whose reach is unknown. */
  #reachingTests({ id }: Mutant, tests: readonly string[]): { test: string; timeoutMs: number }[] {
    return tests
      .flatMap((test) => {
        const { ms, reached } = this.#state.baselines[test] ?? {}
        if (ms === undefined || (reached && !reached.includes(id))) return []
        return [{ test, timeoutMs: 5 * ms + 15_000, order: ms + (reached ? 0 : 1e7) }]
      })
      .sort((a, b) => a.order - b.order)
  }

  #report(mutants: readonly Mutant[]): boolean {
    const verdicts = mutants.map((mutant) => ({ mutant, verdict: this.#knownVerdict(mutant) }))
    const open = verdicts.filter(({ verdict }) => verdict === undefined)
    const survivors = verdicts.filter(({ verdict }) => verdict?.outcome === 'survived')
    const unfound = survivors.filter(({ mutant }) => !findEquivalent(mutant))
    const relevant = verdicts.filter(
      ({ mutant, verdict }) => verdict?.outcome === 'killed' || !findEquivalent(mutant),
    )
    const killed = verdicts.filter(({ verdict }) => verdict?.outcome === 'killed')
    const rate = killed.length / (relevant.length - open.length)
    const print = (line: string) => void process.stdout.write(`${line}\n`)
    for (const { mutant, verdict } of survivors) {
      const reason = findEquivalent(mutant)?.reason
      print(
        `${reason ? `equivalent (${reason})` : `survived ${verdict?.runs} test files`}: ${describe(mutant)}`,
      )
    }
    for (const [test, { ms }] of Object.entries(this.#state.baselines))
      if (ms === undefined && this.#tests.includes(test)) print(`not used, fails without a mutant: ${test}`)
    for (const group of groups) {
      const own = killed.filter(({ mutant }) => mutant.file.startsWith(`${group}/`)).length
      const missed = unfound.filter(({ mutant }) => mutant.file.startsWith(`${group}/`)).length
      print(`${group}: ${own} of ${own + missed} killed`)
    }
    print(
      `seed ${seed}: ${killed.length} of ${relevant.length - open.length} mutants killed (${(100 * rate).toFixed(1)} %), ` +
        `${survivors.length - unfound.length} equivalent, ${open.length} not run yet`,
    )
    return open.length === 0 && rate >= minKillRate
  }

  /** Works on the items with one checkout per job, until all are done or the time is over. */
  async #forEach<T>(
    items: readonly T[],
    work: (item: T, checkout: Checkout) => Promise<void>,
  ): Promise<void> {
    const queue = [...items]
    await Promise.all(
      this.#checkouts.map(async (checkout) => {
        while (performance.now() < deadline) {
          const item = queue.shift()
          if (item === undefined) return
          await work(item, checkout)
        }
      }),
    )
  }

  #firstCheckout(): Checkout {
    const [checkout] = this.#checkouts
    if (!checkout) throw new Error('CAUSEWAY_MUTANTS_JOBS must be at least 1')
    return checkout
  }

  #save(): void {
    mkdirSync(dirname(this.#stateFile), { recursive: true })
    writeFileSync(this.#stateFile, JSON.stringify(this.#state, null, 1))
  }
}

function readState(file: string): State {
  const empty: State = { rejected: {}, baselines: {}, verdicts: {}, passed: {} }
  try {
    return { ...empty, ...JSON.parse(readFileSync(file, 'utf8')) }
  } catch {
    return empty
  }
}

function findEquivalent({ file, before, after }: Mutant) {
  return equivalents.find((one) => one.file === file && one.before === before && one.after === after)
}

function describe({ file, line, rule, before, after }: Mutant): string {
  return `${file}:${line} ${rule}: ${before} -> ${after}`
}

const check = new MutationCheck()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    check.dispose()
    process.exit(1)
  })
}
try {
  process.exitCode = (await check.run()) ? 0 : 1
} finally {
  check.dispose()
}
