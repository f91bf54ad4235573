/**
 * Measures the built server and bridge, and prints ratios to peers that run in the same session, because only those compare.
 * `npm run bench` measures everything except other bridges and a gigabyte recording, `npm run bench -- bridge` only the bridges
 * including ours, `npm run bench -- large` and `npm run bench -- cold` a recording of a gigabyte. `--write` also stores the results in docs/bench.md.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { measureBridge } from './bridge.ts'
import { complexitySettings, measureComplexity } from './complexity.ts'
import { debriefSettings, measureDebrief, writeDebriefPlots } from './debrief.ts'
import { withPart } from './document.ts'
import { measureGateway } from './gateway/gateway.ts'
import { measureHelp } from './help.ts'
import { measureListing } from './listing.ts'
import { load, machine } from './machine.ts'
import { measureMinds } from './minds/minds.ts'
import { measureTown } from './minds/town.ts'
import { type Program, startProgram } from './program.ts'
import { relaySections } from './relay/relay-report.ts'
import { measureRelays } from './relay/relays.ts'
import { measureCold } from './replay/cold.ts'
import { measureDiagnosis } from './replay/diagnosis.ts'
import { measureIngest } from './replay/ingest.ts'
import { measureLake } from './replay/lake.ts'
import { measureLarge } from './replay/large.ts'
import { measurePlanted } from './replay/planted.ts'
import { measureRecorders } from './replay/recorders/recorders.ts'
import { measureRecording, writeBigRecording } from './replay/recording.ts'
import { measureRuns } from './replay/runs.ts'
import { markdown, type Section } from './report.ts'
import { measureStart } from './start.ts'
import { measureToolvault } from './toolvault.ts'
import { measureTrm } from './trm/trm.ts'
import { measureWire } from './wire/wire.ts'

/** What `npm run bench` measures, by argument. */
interface Part {
  readonly command: string
  readonly title: string
  run(): Promise<void>
}

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'))
const server = [join(root, 'server/bin/causeway.js')]
const settings = (app: string) => ({
  CAUSEWAY_DATA_DIR: join(folder, 'data'),
  CAUSEWAY_RECORDING_ROOTS: folder,
  CAUSEWAY_USER_APPS: join(root, 'bench', app),
  MCP_SERVER_PORT: '0',
  CAUSEWAY_RATE_LIMITS: 'off',
})

const printed: string[] = []
const print = (text: string): void => {
  printed.push(text)
  process.stdout.write(`${text}\n`)
}
const show = (section: Section): void => print(markdown(section))
const say = (line: string): void => void process.stderr.write(`bench: ${line}\n`)

const whole: Part = {
  command: 'npm run bench -- --write',
  title: 'Server and bridge',
  async run() {
    say('other bridges are compared by another part: npm run bench -- bridge')
    show(await measureStart(server, settings('bench-app.ts')))
    await withServer('bench-app.ts', async (causeway) => {
      for (const section of await measureWire(causeway)) show(section)
      show(await measureBridge(causeway))
      show(await measureRecording(causeway, await writeBigRecording(folder)))
      show(await measureIngest(causeway))
    })
    show(measureListing())
    show(await measureDiagnosis())
  },
}

const bridge: Part = {
  command: 'npm run bench -- bridge --write',
  title: 'Bridges compared',
  async run() {
    say('three minutes; the tables come at the end')
    await withServer('relay/relay-app.ts', async (causeway) => {
      const relays = await measureRelays(causeway, folder)
      if (relays.missing.length > 0) print(relays.missing.map((line) => `- not measured: ${line}\n`).join(''))
      for (const section of relaySections(relays)) show(section)
    })
  },
}

const large: Part = {
  command: 'npm run bench -- large --write',
  title: 'A gigabyte recording',
  async run() {
    say('makes a recording of 900 MB first, in .causeway-bench, and needs three times its size on the disk')
    for (const section of await measureLarge(server, folder)) show(section)
  },
}

const cold: Part = {
  command: 'npm run bench -- cold --write',
  title: 'First questions about a gigabyte',
  async run() {
    say('three minutes; makes a recording of a gigabyte first, and needs three times its size on the disk')
    for (const section of await measureCold(server, folder, say)) show(section)
  },
}

const minds: Part = {
  command: 'npm run bench -- minds --write',
  title: 'Minds',
  async run() {
    say('two minutes; fills data folders first')
    show(await measureMinds(server))
    say('some five minutes: five towns live for seven days each')
    show(await measureTown(server))
  },
}

const toolvault: Part = {
  command: 'npm run bench -- toolvault --write',
  title: 'Tool vault',
  async run() {
    for (const section of measureToolvault()) show(section)
  },
}

const help: Part = {
  command: 'npm run bench -- help --write',
  title: 'Help',
  async run() {
    say('some minutes: an index of 100,000 pieces is built')
    for (const section of await measureHelp(folder, { write: values.write, env: process.env })) show(section)
  },
}

const gateway: Part = {
  command: 'npm run bench -- gateway --write',
  title: 'Gateways compared',
  async run() {
    say('a quarter of an hour: ten sessions start five servers each, and a thousand connect and leave')
    const options = {
      folder,
      // As `npm start`, services and the bridge start it.
      causeway: ['--max-semi-space-size=8', ...server],
      settings: { ...settings('bench-app.ts'), CAUSEWAY_HELP_BUILD: 'false' },
    }
    for (const section of await measureGateway(options)) show(section)
  },
}

const debrief: Part = {
  command: 'npm run bench -- debrief --write',
  title: 'Plots',
  async run() {
    writeDebriefPlots(folder)
    const causeway = await startProgram(server, { ...settings('bench-app.ts'), ...debriefSettings(folder) })
    try {
      for (const section of await measureDebrief(causeway)) show(section)
    } finally {
      await causeway.stop()
    }
  },
}

const complexity: Part = {
  command: 'npm run bench -- complexity --write',
  title: 'Expensive requests',
  async run() {
    say('two minutes; the table comes at the end')
    const causeway = await startProgram(server, complexitySettings(folder))
    try {
      show(await measureComplexity(causeway))
    } finally {
      await causeway.stop()
    }
  },
}

const diagnose: Part = {
  command: 'npm run bench -- diagnose --write',
  title: 'Planted faults',
  async run() {
    say('some minutes: every fault with every lack of data')
    for (const section of await measurePlanted(say)) show(section)
  },
}

const recorders: Part = {
  command: 'npm run bench -- recorders --write',
  title: 'Recorders',
  async run() {
    show(await measureRecorders(folder, say))
  },
}

const runs: Part = {
  command: 'npm run bench -- runs --write',
  title: 'Many runs',
  async run() {
    say('three minutes: Parquet files of 1,000 runs, 800 MB, are written first')
    show(await measureRuns())
    show(await measureLake(folder, say))
  },
}

const trm: Part = {
  command: 'npm run bench -- trm --write',
  title: 'Trm',
  async run() {
    for (const section of await measureTrm(folder, root, say)) show(section)
  },
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean', default: false } },
})
const [name] = positionals

try {
  if (name === undefined) await measure(whole)
  else if (name === 'bridge') await measure(bridge)
  else if (name === 'large') await measure(large)
  else if (name === 'cold') await measure(cold)
  else if (name === 'minds') await measure(minds)
  else if (name === 'toolvault') await measure(toolvault)
  else if (name === 'help') await measure(help)
  else if (name === 'gateway') await measure(gateway)
  else if (name === 'debrief') await measure(debrief)
  else if (name === 'complexity') await measure(complexity)
  else if (name === 'recorders') await measure(recorders)
  else if (name === 'runs') await measure(runs)
  else if (name === 'trm') await measure(trm)
  else if (name === 'diagnose') await measure(diagnose)
  else {
    say(
      `there is no part "${name}"; there are: bridge, cold, complexity, debrief, diagnose, gateway, help, large, minds, recorders, runs, toolvault, trm`,
    )
    process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true })
}

async function measure({ command, title, run }: Part): Promise<void> {
  const facts = [...machine(root), load('at the start')]
  print(`## ${title}\n\n${facts.map((line) => `- ${line}\n`).join('')}`)
  await run()
  print(`- ${load('at the end')}\n`)
  if (!values.write) return
  const file = join(root, 'docs/bench.md')
  const document = existsSync(file) ? readFileSync(file, 'utf8') : undefined
  writeFileSync(file, withPart(document, command, printed.join('\n')))
}

async function withServer(app: string, use: (causeway: Program) => Promise<void>): Promise<void> {
  // Help's initial indexing would count as cost of other measurements.
  const causeway = await startProgram(server, { ...settings(app), CAUSEWAY_HELP_BUILD: 'false' })
  try {
    await use(causeway)
  } finally {
    await causeway.stop()
  }
}
