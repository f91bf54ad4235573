import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Random } from '../random.ts'
import { verifies } from '../verifies.ts'
import { makeEnvelopeCase } from './envelopes.ts'
import { findFaults, findLeaks } from './judge.ts'
import { toJson } from './nasty.ts'
import { fields, type Product, planted, startProduct } from './product.ts'
import { makeRouteCase } from './routes.ts'
import { type FuzzCase, type MakeCase, run } from './run.ts'
import { makeRawCase, makeSocketCase } from './sockets.ts'
import { makeToolInput } from './tool-input.ts'
import { fuzzTools } from './tools.ts'
import { openWays, type Ways } from './ways.ts'

/** The same seed generates the same cases. The server's state depends on the order of concurrent responses. */
const seed = Number(process.env.CAUSEWAY_FUZZ_SEED ?? 20_261)
const count = Number(
  process.env.CAUSEWAY_FUZZ_INPUTS ?? (process.env.CAUSEWAY_LONG === undefined ? 20_000 : 100_000),
)
const first = Number(process.env.CAUSEWAY_FUZZ_FIRST ?? 0)
const only = process.env.CAUSEWAY_FUZZ_ONLY ?? ''

t.setTimeout(120_000 + count * 20)

type CaseMaker = (random: Random, product: Product, ways: Ways) => FuzzCase

/** Commands that Trm is allowed to run. `env` prints its environment, without the variable that tap adds to it. */
const made = new Map([['test', ['env -u _TAPJS_PROCESSINFO_COV_EXCLUDE_', 'true', 'exit 1']]])
const tools = fuzzTools(made).filter(({ app, name }) => `${app}.${name}`.startsWith(only))

const makeToolCase: CaseMaker = (random, product, ways) => {
  const tool = random.pick(tools)
  const args = makeToolInput(tool, random, product.traps)
  const way = random.pick(ways.names)
  return {
    what: `${way} ${tool.app}.${tool.name} ${toJson(args).slice(0, 5000)}`,
    async send() {
      const { form, response } = await ways.call(way, tool, args)
      return findFaults(response, form, product)
    },
  }
}

/** Number of cases of each kind per hundred. Tool calls take the longest. */
const mix: readonly (readonly [string, CaseMaker, number])[] = [
  ['tool', makeToolCase, 30],
  ['envelope', makeEnvelopeCase, 40],
  ['route', makeRouteCase, 20],
  ['socket', makeSocketCase, 4],
  ['raw', makeRawCase, 6],
]
const kinds = process.env.CAUSEWAY_FUZZ_KINDS?.split(',')
const makers = mix
  .filter(([name]) => kinds?.includes(name) ?? true)
  .flatMap(([, makeCase, share]) => Array.from({ length: share }, () => makeCase))

const status = async ({ url }: Product): Promise<string> =>
  ((await (await fetch(`${url}/health`, { headers: fields })).json()) as { status: string }).status

verifies('proof:fuzz', async (t) => {
  t.comment(
    `seed ${seed}, ${count} inputs from ${first}; CAUSEWAY_FUZZ_SEED, _INPUTS, _FIRST, _KINDS, _ONLY choose others`,
  )
  const product = await startProduct(t)
  const ways = await openWays(product)
  const makeCase: MakeCase = (random) => random.pick(makers)(random, product, ways)
  const report = await run({ seed, count, first }, makeCase)
  await ways.close()
  t.equal(report.failed, 0, 'no response has a fault')
  for (const line of report.failures) t.comment(line)
  for (const line of report.slowest) t.comment(`slow: ${line}`)

  const { server, traps, dataDir } = product
  t.equal(server.process.exitCode, null, 'the server is running')
  t.equal(await status(product), 'ok')
  t.notOk(existsSync(traps.canary), 'no injected command ran')
  t.equal(
    readFileSync(traps.outsideFile, 'utf8'),
    `${planted('outside')}\n`,
    'the file outside the roots is unchanged',
  )
  t.same(
    server.log.all.filter(({ msg }) => msg === 'a request failed unexpectedly').slice(0, 3),
    [],
    'every failure has an error code',
  )
  t.same(await server.stop(), { code: 0, signal: null })
  // The log may contain paths, but no secrets.
  const secretsIn = (text: string) =>
    findLeaks(text, product).filter((one) => one.startsWith('shows planted'))
  t.same(secretsIn(server.stderr), [], 'the log')
  const files = readdirSync(join(dataDir, 'logs'))
  t.ok(files.some((name) => name.startsWith('audit')))
  for (const file of files) t.same(secretsIn(readFileSync(join(dataDir, 'logs', file), 'utf8')), [], file)
})
