/**
 * `npm run soak -- --seconds 120 --only bridges`: fifty bridges while the server comes and goes. `--only product`: every app
 * under mixed clients, with restarts, then for long beside a control. `--only chaos`: kills of every kind.
 * `--only attack`: 64 mixed clients while child processes are killed and expensive requests are sent. Without `--only`, one after the other.
 */
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '1800' },
    bridges: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(1 + (Date.now() % 2 ** 31)) },
    only: { type: 'string' },
  },
})
const asked = {
  seconds: Number(values.seconds),
  bridges: Number(values.bridges),
  seed: Number(values.seed),
}

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const plan = { seconds: asked.seconds, seed: asked.seed, say }

/** A part loads what it needs when it runs: whoever mistypes is answered at once. */
const parts: Readonly<
  Record<string, () => Promise<{ readonly faults: readonly string[]; readonly count: number }>>
> = {
  bridges: async () => {
    const { soak } = await import('./soak.ts')
    const report = await soak({ ...plan, bridges: asked.bridges })
    say(JSON.stringify(report, null, 2))
    return { faults: report.faults, count: report.requests }
  },
  product: async () => {
    const { productSoak } = await import('./product-soak.ts')
    const { rounds, control, ...report } = await productSoak(plan)
    say(JSON.stringify({ seed: plan.seed, ...report, last: rounds.at(-1), control: control.at(-1) }, null, 2))
    return { faults: report.faults, count: report.sent === report.answered ? report.sent : 0 }
  },
  chaos: async () => {
    const { chaos } = await import('./chaos.ts')
    const report = await chaos(plan)
    say(JSON.stringify({ seed: plan.seed, ...report }, null, 2))
    return { faults: report.faults, count: report.accepted.minds }
  },
  attack: async () => {
    const { attackSoak } = await import('./attack.ts')
    const maxHealthP99Ms = process.env.CAUSEWAY_LONG === 'true' ? 100 : undefined
    const report = await attackSoak({ ...plan, maxHealthP99Ms })
    say(JSON.stringify({ seed: plan.seed, ...report }, null, 2))
    return { faults: report.faults, count: report.changes }
  },
}

const wrong = refusals()
for (const line of wrong) process.stderr.write(`soak: ${line}\n`)
if (wrong.length > 0) process.exitCode = 1
else
  for (const [name, run] of Object.entries(parts)) {
    if (values.only !== undefined && values.only !== name) continue
    const { faults, count } = await run()
    if (faults.length > 0 || count === 0) process.exitCode = 1
  }

/** What of the arguments cannot be done, a line each. */
function refusals(): string[] {
  const names = Object.keys(parts)
  return [
    ...(values.only === undefined || names.includes(values.only)
      ? []
      : [`no such part: ${values.only}; there are ${names.join(', ')}`]),
    ...(['seconds', 'bridges', 'seed'] as const)
      .filter((key) => !(Number.isFinite(asked[key]) && asked[key] > 0))
      .map((key) => `--${key} must be a number above 0: ${values[key]}`),
  ]
}
