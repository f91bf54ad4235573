/**
 * `npm run soak -- --seconds 120 --only bridges`: fifty bridges while the server restarts. `--only product`: every app with mixed
 * clients, during restarts and then steadily, compared with a control server. `--only chaos`: kills of every kind.
 * `--only attack`: 64 mixed clients while child processes are killed and expensive requests are sent. Without `--only`, all parts run.
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
const options = {
  seconds: Number(values.seconds),
  bridges: Number(values.bridges),
  seed: Number(values.seed),
}

const print = (line: string): void => void process.stdout.write(`${line}\n`)
const plan = { seconds: options.seconds, seed: options.seed, print }

/** Each part imports its modules when it runs, so that invalid arguments are reported immediately. */
const parts: Readonly<
  Record<string, () => Promise<{ readonly faults: readonly string[]; readonly count: number }>>
> = {
  bridges: async () => {
    const { soak } = await import('./soak.ts')
    const report = await soak({ ...plan, bridges: options.bridges })
    print(JSON.stringify(report, null, 2))
    return { faults: report.faults, count: report.requests }
  },
  product: async () => {
    const { productSoak } = await import('./product-soak.ts')
    const { rounds, control, ...report } = await productSoak(plan)
    print(
      JSON.stringify({ seed: plan.seed, ...report, last: rounds.at(-1), control: control.at(-1) }, null, 2),
    )
    return { faults: report.faults, count: report.sent === report.answered ? report.sent : 0 }
  },
  chaos: async () => {
    const { chaos } = await import('./chaos.ts')
    const report = await chaos(plan)
    print(JSON.stringify({ seed: plan.seed, ...report }, null, 2))
    return { faults: report.faults, count: report.accepted.minds }
  },
  attack: async () => {
    const { attackSoak } = await import('./attack.ts')
    const maxHealthP99Ms = process.env.CAUSEWAY_LONG === 'true' ? 100 : undefined
    const report = await attackSoak({ ...plan, maxHealthP99Ms })
    print(JSON.stringify({ seed: plan.seed, ...report }, null, 2))
    return { faults: report.faults, count: report.changes }
  },
}

const problems = findProblems()
for (const line of problems) process.stderr.write(`soak: ${line}\n`)
if (problems.length > 0) process.exitCode = 1
else
  for (const [name, run] of Object.entries(parts)) {
    if (values.only !== undefined && values.only !== name) continue
    const { faults, count } = await run()
    if (faults.length > 0 || count === 0) process.exitCode = 1
  }

/** Returns the problems of the arguments, as lines. */
function findProblems(): string[] {
  const names = Object.keys(parts)
  return [
    ...(values.only === undefined || names.includes(values.only)
      ? []
      : [`no such part: ${values.only}; there are ${names.join(', ')}`]),
    ...(['seconds', 'bridges', 'seed'] as const)
      .filter((key) => !(Number.isFinite(options[key]) && options[key] > 0))
      .map((key) => `--${key} must be a number above 0: ${values[key]}`),
  ]
}
