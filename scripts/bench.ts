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
import { markdown } from './bench/report.ts'
import { measureStart } from './bench/start.ts'
import { measureWire } from './bench/wire.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'))
const server = [join(root, 'server/bin/causeway.js')]
const settings = {
  CAUSEWAY_DATA_DIR: join(folder, 'data'),
  CAUSEWAY_RECORDING_ROOTS: folder,
  CAUSEWAY_USER_APPS: join(root, 'scripts/bench/bench-app.ts'),
  MCP_SERVER_PORT: '0',
}

const parts: string[] = []
const show = (text: string): void => {
  parts.push(text)
  process.stdout.write(`${text}\n`)
}

try {
  const facts = machine(root).map((line) => `- ${line}\n`)
  show(`# Benchmark\n\nMade by \`npm run bench -- --write\`:\n\n${facts.join('')}`)
  show(markdown(await measureStart(server, settings)))
  const causeway = await startProgram(server, settings)
  try {
    for (const section of await measureWire(causeway)) show(markdown(section))
    show(markdown(await measureBridge(causeway)))
    show(markdown(await measureRecording(causeway, await writeBigRecording(folder))))
  } finally {
    await causeway.stop()
  }
  show(markdown(measureListing()))
} finally {
  rmSync(folder, { recursive: true })
}
if (process.argv.includes('--write')) {
  mkdirSync(join(root, 'bench'), { recursive: true })
  writeFileSync(join(root, 'bench/README.md'), parts.join('\n'))
}
