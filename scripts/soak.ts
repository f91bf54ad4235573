/** `npm run soak -- --seconds 120 --bridges 50 --seed 1`: bridges under load while the server comes and goes. */
import { parseArgs } from 'node:util'
import { soak } from '../test/soak/soak.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '1800' },
    bridges: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  },
})

const report = await soak({
  seconds: Number(values.seconds),
  bridges: Number(values.bridges),
  seed: Number(values.seed),
  say: (line) => void process.stdout.write(`${line}\n`),
})
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
process.exitCode = report.faults.length > 0 || report.requests === 0 ? 1 : 0
