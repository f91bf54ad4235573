/**
 * Measures the built server and bridge, and prints ratios to peers that run beside them, since only those compare.
 * With `--write`, also keeps the results in bench/README.md.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { measureBridge } from './bench/bridge.ts'
import { measureListing } from './bench/listing.ts'
import { machine } from './bench/machine.ts'
import { startProgram } from './bench/program.ts'
import { measureRecording, writeBigRecording } from './bench/recording.ts'
import { markdown, type Section } from './bench/report.ts'
import { measureWire } from './bench/wire.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const parts = [
  `# Benchmark\n\n\`npm run bench\` made this run:\n\n${machine(root)
    .map((line) => `- ${line}`)
    .join('\n')}\n`,
]
const show = (section: Section): void => {
  parts.push(markdown(section))
  process.stdout.write(`${markdown(section)}\n`)
}
process.stdout.write(`${parts[0]}\n`)

const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'))
const started = performance.now()
const causeway = await startProgram([join(root, 'server/bin/causeway.js')], {
  CAUSEWAY_DATA_DIR: join(folder, 'data'),
  CAUSEWAY_RECORDING_ROOTS: folder,
  CAUSEWAY_USER_APPS: join(root, 'scripts/bench/bench-app.ts'),
  MCP_SERVER_PORT: '0',
})
try {
  for (const section of await measureWire(causeway)) show(section)
  show(await measureBridge(causeway))
  show(await measureRecording(causeway, await writeBigRecording(folder)))
  show(measureListing())
} finally {
  await causeway.stop()
  rmSync(folder, { recursive: true })
}
process.stdout.write(`${((performance.now() - started) / 1000).toFixed(0)} s\n`)
if (process.argv.includes('--write')) {
  mkdirSync(join(root, 'bench'), { recursive: true })
  writeFileSync(join(root, 'bench/README.md'), parts.join('\n'))
}
