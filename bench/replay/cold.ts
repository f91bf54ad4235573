/** Measures the first questions about a recording of a gigabyte, each to a server that has just loaded it. */
import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { ColumnSelection } from '../../packages/recording/src/formats/frame-window.ts'
import { prepareCopy } from '../../packages/recording/src/library/prepare.ts'
import { connect, openCopy } from '../../packages/recording/src/reader/cpp/connection.ts'
import { createRecordingWindows } from '../../packages/recording/src/reader/windows.ts'
import { anonymousBytes } from '../program.ts'
import { held, type Limit, limitText, number, type Section } from '../report.ts'
import { quantile } from '../rounds.ts'
import { type LargeSpec, locateFault, writeLargeRecording } from './large-recording.ts'
import { delayMs, type ReplayServer, startReplay } from './replay-server.ts'

const spec: LargeSpec = { frames: 100_000, bodies: 20, resting: 3 }

/** Milliseconds between two requests for `/health`. */
const healthMs = 20

const limits = {
  load: { most: 8 },
  question: { most: 3 },
  diagnosis: { most: 12 },
  part: { most: 1 },
  health: { most: 50 },
  delay: { most: 20 },
  memory: { most: 700 },
}

const questions = {
  plot: { series: ['body.7.speed', 'energy.total'] },
  get_series: { series: ['pair.1.floor.normal_force'] },
  search_frames: { predicate: 'speed(7) > 3 and contacts > 5' },
}

/** Writes the recording, asks servers with empty data folders, and removes everything. */
export async function measureCold(
  server: readonly string[],
  folder: string,
  say: (line: string) => void,
): Promise<readonly Section[]> {
  const path = join(folder, 'cold.db')
  writeLargeRecording(path, spec)
  say('the recording is written')
  const megabytes = statSync(path).size / 1e6
  const loads: number[] = []
  const watched = new Watch()
  const askCold = async (ask: (replay: ReplayServer) => Promise<void>) => {
    const data = mkdtempSync(join(folder, 'cold-data-'))
    const env = { CAUSEWAY_DATA_DIR: data, CAUSEWAY_RECORDING_ROOTS: folder, MCP_SERVER_PORT: '0' }
    const replay = await startReplay(server, { ...env, CAUSEWAY_RATE_LIMITS: 'off' })
    try {
      await watched.during(replay, async () => {
        loads.push((await replay.tool('load_recording', { path })).ms / 1000)
        await ask(replay)
      })
    } finally {
      await replay.stop()
      rmSync(data, { recursive: true })
    }
  }
  const firstAnswers = new Map<string, number>()
  for (const [tool, args] of Object.entries(questions)) {
    say(tool)
    await askCold(async (replay) => {
      firstAnswers.set(tool, (await replay.tool(tool, args)).ms / 1000)
    })
  }
  let [diagnosis, part] = [Number.NaN, Number.NaN]
  say('diagnose')
  await askCold(async (replay) => {
    diagnosis = await diagnose(replay, {})
    part = await diagnose(replay, { start_frame: 70_000, end_frame: 80_000 })
  })
  say('reading without a server')
  const reading = await measureReading(path, folder)
  const judged = (value: number, unit: string, limit: Limit) => [held(value, limit), unit, limitText(limit)]
  return [
    {
      title: `The first questions about a recording of ${number(megabytes)} MB, ${number(spec.frames)} frames of ${spec.bodies} bodies`,
      about: `Over HTTP; every question is the first one to a new server with an empty data folder, right after load_recording. Meanwhile another client requests /health every ${healthMs} ms.`,
      head: ['', 'measured', 'unit', 'budget'],
      rows: [
        ['load_recording, slowest', ...judged(Math.max(...loads), 's', limits.load)],
        ...[...firstAnswers].map(([tool, seconds]) => [
          `${tool}, the first question`,
          ...judged(seconds, 's', limits.question),
        ]),
        ['diagnose, the first question, whole run', ...judged(diagnosis, 's', limits.diagnosis)],
        ['diagnose of 10,001 frames afterwards', ...judged(part, 's', limits.part)],
        ['meanwhile: /health, p99', ...judged(quantile(watched.health, 0.99), 'ms', limits.health)],
        ['meanwhile: event loop delay, p99', ...judged(watched.delay, 'ms', limits.delay)],
        ['anonymous memory, maximum', ...judged(watched.bytes / 1e6, 'MB', limits.memory)],
      ],
    },
    reading,
  ]
}

/** What a server needs while it answers. */
class Watch {
  /** Latencies of `/health` in milliseconds. */
  readonly health: number[] = []
  /** Largest 99th percentile of the event loop delay of a server, in milliseconds; the timer adds about 10 ms. */
  delay = 0
  /** Maximum anonymous memory. */
  bytes = 0

  async during({ program }: ReplayServer, work: () => Promise<void>): Promise<void> {
    await delayMs(program.url, 'p99')
    let isRunning = true
    const poll = async () => {
      while (isRunning) {
        const before = performance.now()
        await (await fetch(`${program.url}/health`)).text()
        this.health.push(performance.now() - before)
        this.bytes = Math.max(this.bytes, anonymousBytes(program.pid) ?? Number.NaN)
        await pause(healthMs)
      }
    }
    const polling = poll()
    try {
      await work()
    } finally {
      isRunning = false
      await polling
    }
    this.delay = Math.max(this.delay, await delayMs(program.url, 'p99'))
  }
}

/** Returns the seconds of a diagnosis that finds the fault. */
async function diagnose({ tool }: ReplayServer, range: object): Promise<number> {
  const { ms, answer } = await tool('diagnose', range)
  const { frame, body } = locateFault(spec)
  const text = JSON.stringify(answer)
  if (!text.includes('quaternion_norm') || !text.includes(`"first":${frame}`) || !text.includes(`[${body}]`))
    throw new Error(`the fault was not found: ${text.slice(0, 500)}`)
  return ms / 1000
}

/** Columns of questions by what is asked. */
const selections: Readonly<Record<string, ColumnSelection>> = {
  'speed of one body, energy': { parts: ['velocity', 'system'], bodies: [7] },
  'normal force of a pair': { parts: ['friction'], bodies: [] },
  'poses of all bodies': { parts: ['position', 'orientation'] },
}

/** Reads the tables of a copy for several questions, and all columns in one and in two threads. */
async function measureReading(path: string, folder: string): Promise<Section> {
  const file = join(folder, 'reading.db')
  copyFileSync(path, file)
  prepareCopy(file, true)
  const connection = connect(openCopy(file))
  const bodies = Array.from({ length: spec.bodies }, (_, i) => i + 1)
  const seconds = async (selection?: ColumnSelection, options: { readonly file?: string } = {}) => {
    const windows = createRecordingWindows(connection, bodies, { maxBytes: 0, ...options })
    const call = { signal: new AbortController().signal, progress() {} }
    const before = performance.now()
    for await (const _ of windows.over({ start: null, end: null }, call, selection));
    return (performance.now() - before) / 1000
  }
  const every = await seconds()
  const rows: [string, number][] = [['every column, one thread: what each question read before', every]]
  rows.push(['every column, two threads', await seconds(undefined, { file })])
  for (const [name, selection] of Object.entries(selections)) rows.push([name, await seconds(selection)])
  connection.db.close()
  rmSync(file)
  return {
    title: 'Reading the tables',
    about: 'Without a server, every frame, once each, in this order; nothing is cached.',
    head: ['columns', 's', 'of every column'],
    rows: rows.map(([name, time]) => [name, number(time), number(time / every)]),
  }
}
