import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Random } from '../random.ts'
import { verifies } from '../verifies.ts'
import { envelopeShot } from './envelopes.ts'
import { faultsOf, leaksOf } from './judge.ts'
import { jsonOf } from './nasty.ts'
import { fields, type Product, planted, startProduct } from './product.ts'
import { routeShot } from './routes.ts'
import { type Aim, run, type Shot } from './run.ts'
import { rawShot, socketShot } from './sockets.ts'
import { toolInput } from './tool-input.ts'
import { fuzzTools } from './tools.ts'
import { openWays, type Ways } from './ways.ts'

/** The same seed gives the same inputs; what state they meet depends on those that are answered beside them. */
const seed = Number(process.env.CAUSEWAY_FUZZ_SEED ?? 20_261)
const count = Number(
  process.env.CAUSEWAY_FUZZ_INPUTS ?? (process.env.CAUSEWAY_LONG === undefined ? 20_000 : 100_000),
)
const first = Number(process.env.CAUSEWAY_FUZZ_FIRST ?? 0)
const only = process.env.CAUSEWAY_FUZZ_ONLY ?? ''

t.setTimeout(120_000 + count * 20)

type AimAt = (random: Random, product: Product, ways: Ways) => Shot

/** Commands that Trm may run here; one of them shows the environment that it runs in. */
const made = new Map([['test', ['env', 'true', 'exit 1']]])
const tools = fuzzTools(made).filter(({ app, name }) => `${app}.${name}`.startsWith(only))

const toolShot: AimAt = (random, product, ways) => {
  const tool = random.pick(tools)
  const args = toolInput(tool, random, product.traps)
  const way = random.pick(ways.names)
  return {
    what: `${way} ${tool.app}.${tool.name} ${jsonOf(args).slice(0, 5000)}`,
    async fire() {
      const { form, answer } = await ways.call(way, tool, args)
      return faultsOf(answer, form, product)
    },
  }
}

/** Of a hundred inputs, how many are of each kind; those of tools take the longest. */
const mix: readonly (readonly [string, AimAt, number])[] = [
  ['tool', toolShot, 30],
  ['envelope', envelopeShot, 40],
  ['route', routeShot, 20],
  ['socket', socketShot, 4],
  ['raw', rawShot, 6],
]
const kinds = process.env.CAUSEWAY_FUZZ_KINDS?.split(',')
const aims = mix
  .filter(([name]) => kinds?.includes(name) ?? true)
  .flatMap(([, aim, share]) => Array.from({ length: share }, () => aim))

const status = async ({ url }: Product): Promise<string> =>
  ((await (await fetch(`${url}/health`, { headers: fields })).json()) as { status: string }).status

verifies('proof:fuzz', async (t) => {
  t.comment(
    `seed ${seed}, ${count} inputs from ${first}; CAUSEWAY_FUZZ_SEED, _INPUTS, _FIRST, _KINDS, _ONLY choose others`,
  )
  const product = await startProduct(t)
  const ways = await openWays(product)
  const aim: Aim = (random) => random.pick(aims)(random, product, ways)
  const report = await run({ seed, count, first }, aim)
  await ways.close()
  t.equal(report.failed, 0, 'every answer keeps the rules')
  for (const line of report.failures) t.comment(line)
  for (const line of report.slowest) t.comment(`slow: ${line}`)

  const { server, traps, dataDir } = product
  t.equal(server.process.exitCode, null, 'the server lives')
  t.equal(await status(product), 'ok')
  t.notOk(existsSync(traps.canary), 'nothing that was injected ran')
  t.equal(readFileSync(traps.outsideFile, 'utf8'), `${planted('outside')}\n`, 'the file outside is as it was')
  t.same(
    server.log.all.filter(({ msg }) => msg === 'a request failed unexpectedly').slice(0, 3),
    [],
    'nothing failed that is not told by a code',
  )
  t.same(await server.stop(), { code: 0, signal: null })
  // The log names the places of what failed; secrets it must not hold.
  const secretsIn = (text: string) => leaksOf(text, product).filter((one) => one.startsWith('shows planted'))
  t.same(secretsIn(server.stderr), [], 'the log')
  const files = readdirSync(join(dataDir, 'logs'))
  t.ok(files.some((name) => name.startsWith('audit')))
  for (const file of files) t.same(secretsIn(readFileSync(join(dataDir, 'logs', file), 'utf8')), [], file)
})
