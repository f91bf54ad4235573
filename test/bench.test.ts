import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { withPart } from '../bench/document.ts'
import type { Contender } from '../bench/relay/contenders.ts'
import { createField } from '../bench/relay/field.ts'
import { lineReader, readAnswer } from '../bench/relay/line-client.ts'
import type { Calls } from '../bench/relay/relay-calls.ts'
import { relaySections } from '../bench/relay/relay-report.ts'
import { direct } from '../bench/relay/relays.ts'
import { held, heldTogether, limitText, markdown, number } from '../bench/report.ts'
import { interleaved, median, quantile } from '../bench/rounds.ts'
import { ours, references, wireSection } from '../bench/wire/wire-report.ts'
import { type Outcome, outputSummary, withOutcome } from '../scripts/check-long.ts'
import {
  applyMutant,
  applyProbes,
  apportion,
  findMutants,
  selectMutants,
  shuffleMutants,
} from './mutation/find-mutants.ts'
import { repository } from './tree.ts'

t.test('bench: the median is a measured value, and NaN without values', async (t) => {
  t.equal(median([9, 1, 5]), 5)
  t.equal(median([4, 1, 3, 2]), 2)
  t.equal(
    quantile(
      Array.from({ length: 100 }, (_, index) => index + 1),
      0.95,
    ),
    95,
  )
  t.ok(Number.isNaN(median([])))
})

t.test('bench alternates participants and starts no round after the time limit', async (t) => {
  const order: string[] = []
  const candidates = ['a', 'b'].map((name) => ({ name, run: async () => order.push(name) }))
  t.same(
    await interleaved(candidates, 2),
    new Map([
      ['a', [1, 3]],
      ['b', [2, 4]],
    ]),
  )
  t.same(order, ['a', 'b', 'a', 'b'])
  await interleaved(candidates, 2, 0)
  t.same(order.slice(4), ['a', 'b'], 'the first round is always made')
})

t.test('bench reports a participant that fails and continues with the others', async (t) => {
  const field = createField(1000)
  let runs = 0
  const candidates = field.candidates([{ name: 'bad' }, { name: 'good' }], 'calling', async ({ name }) => {
    runs += 1
    if (name === 'bad') throw new Error('no answer')
    return name
  })
  const measured = await interleaved(candidates, 2)
  t.same(measured.get('bad'), [undefined, undefined])
  t.same(measured.get('good'), ['good', 'good'])
  t.equal(runs, 3, 'it is not asked again')
  t.same(field.dropped, ['bad dropped out while calling: no answer'])
})

t.test('bench drops a participant that takes too long', async (t) => {
  const field = createField(5)
  const [candidate] = field.candidates([{ name: 'slow' }], 'calling', () => new Promise(() => {}))
  t.equal(await candidate?.run(), undefined)
  t.match(field.dropped, [/^slow dropped out/])
})

t.test('bench reads lines from chunks of any size', async (t) => {
  const lines: string[] = []
  const read = lineReader((line) => lines.push(line.toString()))
  for (const chunk of ['on', 'e\ntwo\n\nth', 'r', 'ee\nrest']) read(Buffer.from(chunk))
  t.same(lines, ['one', 'two', '', 'three'])
})

t.test('bench finds the id of a response before or after its result', async (t) => {
  const read = (text: string) => readAnswer(Buffer.from(text))
  t.same(read('{"jsonrpc":"2.0","id":7,"result":{"id":1}}'), { id: 7, failure: undefined })
  t.same(read('{"result":{"id":1},"jsonrpc":"2.0","id":8}'), { id: 8, failure: undefined })
  t.equal(read('{"jsonrpc":"2.0","id":9,"method":"ping"}'), undefined)
  t.equal(read('{"jsonrpc":"2.0","method":"notifications/message"}'), undefined)
  for (const failed of [
    '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}',
    '{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}',
  ])
    t.same(read(failed), { id: 1, failure: failed })
})

t.test('bench: numbers have three digits, and a missing one is a dash', async (t) => {
  t.same([0.12345, 12.345, 1234.5, Number.POSITIVE_INFINITY, Number.NaN].map(number), [
    '0.123',
    '12.3',
    '1,235',
    '∞',
    '–',
  ])
})

t.test('held marks a figure that exceeds its limit, unless it was not measured', async (t) => {
  t.same(
    [1.5, 1.501, Number.NaN].map((value) => held(value, { most: 1.5 })),
    ['1.5', '1.5 (missed)', '–'],
  )
  t.same(
    [200_000, 108_740].map((value) => held(value, { least: 200_000 })),
    ['200,000', '108,740 (missed)'],
  )
  t.same([limitText({ most: 1500 }), limitText({ least: 0.9 })], ['≤ 1,500', '≥ 0.9'])
})

t.test('bench compares each figure of a row with its own limit', async (t) => {
  t.same(
    heldTogether([
      { what: '', value: 905, limit: { least: 400 }, unit: '/s', note: 'at 1 ms each' },
      { what: 'p99', value: 101, limit: { most: 100 }, unit: 'ms' },
    ]),
    ['≥ 400 /s, p99 ≤ 100 ms', '905 /s at 1 ms each, p99 101 ms (missed)'],
  )
})

t.test('the wire bench compares only our own routes with the budgets, each ratio with its own', async (t) => {
  const loads = (...perSecond: readonly number[]) =>
    perSecond.map((one) => ({ perSecond: one, p50Ms: 1, cpuUs: 100 }))
  const { title, rows } = wireSection(
    { title: 'call', about: '', ofRaw: 4, ofPeers: 3 },
    new Map([
      [references.raw, loads(1000, 500, 1000)],
      [`${ours}quick`, loads(300, 150, 300)],
      [`${ours}slow`, loads(200, 100, 200)],
      [references.sdk, loads(90, 45, 90)],
    ]),
  )
  t.equal(title, 'call; budget: 4 of raw, 3 of SDK v1 and fastmcp')
  const ratios = Object.fromEntries(
    rows.map(([name = '', , , , raw, , sdk, fastmcp]) => [name, [raw, sdk, fastmcp]]),
  )
  t.same(ratios, {
    [references.raw]: ['1', '11.1', '–'],
    [`${ours}quick`]: ['3.33', '3.33', '–'],
    [`${ours}slow`]: ['5 (missed)', '2.22 (missed)', '–'],
    [references.sdk]: ['11.1', '1', '–'],
  })
})

t.test('bench: a table is aligned', async (t) => {
  const section = { title: 'T', about: 'A.', head: ['', 'ms'], rows: [['long', '1']] }
  t.equal(markdown(section), '### T\n\nA.\n\n|      | ms |\n| ---- | -- |\n| long | 1  |\n')
})

t.test('bench --write replaces the section of a part and keeps the others', async (t) => {
  const first = withPart(withPart(undefined, 'one', 'old'), 'two', 'other')
  const second = withPart(first, 'one', 'new')
  t.equal(second, first.replace('old', 'new'))
  t.throws(() => withPart(first.replace('<!-- measured by one: ends -->', ''), 'one', 'new'), {
    message: /"one"/,
  })
})

const calls = (p50Ms: number, perSecond: number): Calls => ({
  calls: perSecond,
  seconds: 1,
  p50Ms,
  p95Ms: 2 * p50Ms,
  cpuMs: 100,
})

t.test('bench compares bridges within a round and marks a missed budget', async (t) => {
  const contender = (program: string, version: string): Contender => ({
    name: `${program}, Node ${version}`,
    program,
    version,
    node: 'node',
    args: [],
  })
  const [own, peer] = [contender('Causeway', '24.1.0'), contender('mcp-remote', '24.1.0')]
  const start = (coldMs: number) => ({ coldMs, endMs: 10 })
  const weight = { idle: 70 * 2 ** 20, afterCalls: 90e6, afterLarge: 95e6 }
  const [budgets, starts, called] = relaySections({
    contenders: [own, peer],
    missing: [],
    bare: new Map([['24.1.0', 46 * 2 ** 20]]),
    // The second round met a slow machine: shares stay, differences of medians would not.
    starts: new Map([
      [own.name, [start(100), start(900), start(110)]],
      [peer.name, [start(400), start(3600), undefined]],
    ]),
    inTurn: new Map([
      [direct, [calls(1, 10), calls(9, 10)]],
      [own.name, [calls(1.2, 10), calls(9.2, 10)]],
    ]),
    atOnce: new Map([
      [direct, [calls(1, 1000)]],
      [own.name, [calls(1, 950)]],
    ]),
    large: new Map([
      [direct, [100]],
      [own.name, [150]],
    ]),
    weights: new Map([[own.name, weight]]),
    held: new Map([[own.name, [{ unread: 100e6, read: 150e6 }]]]),
  })
  const findRow = (rows: readonly (readonly string[])[] | undefined, name: string) =>
    rows?.find(([first]) => first?.startsWith(name))?.slice(1)
  t.same(findRow(budgets?.rows, 'cold start'), ['≤ 0.3', '0.25'])
  t.same(findRow(budgets?.rows, 'added to a call'), ['≤ 0.25', '0.2'])
  t.same(findRow(budgets?.rows, 'idle memory'), ['≤ 66', '70 (missed)'])
  t.same(findRow(budgets?.rows, 'calls/s'), ['≥ 0.9', '0.95'])
  t.same(findRow(budgets?.rows, 'of the idle memory'), ['', '46'])
  t.same(findRow(starts?.rows, 'Causeway'), ['110', '900', '0.25', '10'])
  t.equal(findRow(called?.rows, 'mcp-remote')?.[0], '–', 'it was not measured')
})

/** Runs the soak with arguments that it refuses; what is cheap to refuse is refused at once. */
function soak(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['test/soak/main.ts', ...args], {
    cwd: repository,
    encoding: 'utf8',
    timeout: 20_000,
  })
  return { status, stdout, stderr }
}

t.test('soak rejects an unknown part and lists the known ones', async (t) => {
  for (const name of ['bridge', '', 'toString'])
    t.same(soak('--only', name), {
      status: 1,
      stdout: '',
      stderr: `soak: no such part: ${name}; there are bridges, product, chaos, attack\n`,
    })
})

t.test('soak: rejects malformed numbers and numbers that are not positive', async (t) => {
  t.same(soak('--seconds', 'abc', '--bridges', '0', '--seed', 'Infinity'), {
    status: 1,
    stdout: '',
    stderr: [
      'soak: --seconds must be a number above 0: abc',
      'soak: --bridges must be a number above 0: 0',
      'soak: --seed must be a number above 0: Infinity',
      '',
    ].join('\n'),
  })
})

const outcome = (name: string, summary: string): Outcome => ({
  name,
  about: 'what it does',
  isGood: true,
  seconds: 12.4,
  facts: ['a machine'],
  summary,
})

t.test('check:long replaces the report of a part and keeps the others', async (t) => {
  const first = withOutcome(withOutcome(undefined, outcome('fuzz', 'old')), outcome('soak', 'kept'))
  const second = withOutcome(first, outcome('fuzz', 'new'))
  t.match(second, /^# Reliability\n/)
  t.match(second, /## fuzz: what it does\n\n- a machine\n- passed after 12 s\n\n```text\nnew\n```/)
  t.match(second, /kept/)
  t.notMatch(second, /old/)
  t.ok(second.indexOf('## fuzz') < second.indexOf('## soak'), 'in its old place')
})

t.test('reliability: a failed part lists the failed tests and the totals', async (t) => {
  const output = 'ok 1 - a\nnot ok 2 - b\n# { total: 2, pass: 1, fail: 1 }\n# time=3ms\n'
  t.equal(outputSummary(output), 'not ok 2 - b\n{ total: 2, pass: 1, fail: 1 }')
  t.equal(outputSummary('a report\n{ "requests": 3 }\n'), 'a report\n{ "requests": 3 }')
})

const sample = `export async function clamp(value: number, isStrict = false): Promise<number> {
  if (value < (0 as number)) return 0
  const limit = await (Promise.resolve(10) as Promise<number>)
  await Promise.resolve('ä')
  return isStrict ? value : Math.min(value, limit)
}
`

t.test('findMutants applies each rule at its place in typed source text', async (t) => {
  const changes = findMutants('sample.ts', sample).map(({ line, rule, after }) => [line, rule, after])
  t.strictSame(changes, [
    [1, 'flipped boolean', 'export async function clamp(value: number, isStrict = true): Promise<number> {'],
    [2, 'negated condition', 'if (!(value < (0 as number))) return 0'],
    [2, 'skipped exit', 'if (false) return 0'],
    [2, 'off by one', 'if (value < (1 as number)) return 0'],
    [2, 'off by one', 'if (value < (0 as number)) return 1'],
    [3, 'dropped await', 'const limit = (Promise.resolve(10) as Promise<number>)'],
    [3, 'off by one', 'const limit = await (Promise.resolve(11) as Promise<number>)'],
    [4, 'dropped await', "void Promise.resolve('ä')"],
    [5, 'negated condition', 'return !(isStrict) ? value : Math.min(value, limit)'],
    [5, 'swapped min and max', 'return isStrict ? value : Math.max(value, limit)'],
  ])
})

t.test('applyProbes records the evaluated places and keeps the result', async (t) => {
  const log = join(t.testdirName, 'log')
  const places = await selectMutants(findMutants('sample.ts', sample), 10, async () => true)
  const minimum = places.find(({ rule }) => rule === 'swapped min and max')
  t.testdir({
    log: '',
    'probed.ts': applyProbes(sample, places, log),
    'mutant.ts': minimum ? applyMutant(sample, minimum) : '',
  })
  const probed = await import(join(t.testdirName, 'probed.ts'))
  const mutant = await import(join(t.testdirName, 'mutant.ts'))
  t.equal(await probed.clamp(12), 10)
  t.equal(await mutant.clamp(12), 12)
  const reached = new Set(readFileSync(log, 'utf8').split('\n'))
  const missed = places.filter(({ id }) => !reached.has(id))
  t.strictSame(
    missed.map(({ after }) => after),
    ['if (value < (0 as number)) return 1'],
  )
})

t.test('selectMutants takes turns between the rules, skips overlaps and rejected mutants', async (t) => {
  const found = shuffleMutants(findMutants('sample.ts', sample), 'seed')
  const selected = await selectMutants(found, 6, async ({ line }) => line !== 3)
  t.equal(selected.length, 6)
  t.notOk(selected.some(({ line }) => line === 3))
  t.ok(selected.every((a) => selected.every((b) => a === b || a.end <= b.start || b.end <= a.start)))
  const moved = shuffleMutants(findMutants('sample.ts', `// A new first line.\n${sample}`), 'seed')
  t.strictSame(
    moved.map(({ id }) => id),
    found.map(({ id }) => id),
    'an edit elsewhere does not change the order',
  )
  t.strictSame(apportion(60, [12922, 6886, 9341, 9382]), [20, 11, 14, 15])
})
