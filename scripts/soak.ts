/**
 * `npm run soak -- --seconds 120 --only bridges`: fifty bridges while the server comes and goes. `--only product`: every app
 * under mixed clients, with restarts, then for long beside a control. `--only chaos`: kills of every kind. Without `--only`, one after the other.
 */
import { parseArgs } from 'node:util'
import { chaos } from '../test/soak/chaos.ts'
import { productSoak } from '../test/soak/product-soak.ts'
import { soak } from '../test/soak/soak.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '1800' },
    bridges: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    only: { type: 'string', default: '' },
  },
})

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const plan = { seconds: Number(values.seconds), seed: Number(values.seed), say }

const parts: Readonly<
  Record<string, () => Promise<{ readonly faults: readonly string[]; readonly count: number }>>
> = {
  bridges: async () => {
    const report = await soak({ ...plan, bridges: Number(values.bridges) })
    say(JSON.stringify(report, null, 2))
    return { faults: report.faults, count: report.requests }
  },
  product: async () => {
    const { rounds, control, ...report } = await productSoak(plan)
    say(JSON.stringify({ seed: plan.seed, ...report, last: rounds.at(-1), control: control.at(-1) }, null, 2))
    return { faults: report.faults, count: report.sent === report.answered ? report.sent : 0 }
  },
  chaos: async () => {
    const report = await chaos(plan)
    say(JSON.stringify({ seed: plan.seed, ...report }, null, 2))
    return { faults: report.faults, count: report.accepted.minds }
  },
}

for (const [name, run] of Object.entries(parts)) {
  if (values.only !== '' && values.only !== name) continue
  const { faults, count } = await run()
  if (faults.length > 0 || count === 0) process.exitCode = 1
}
