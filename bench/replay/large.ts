/** Measures a recording of 900 MB (110,000 frames of 20 bodies): first response, effect on other calls, diagnosis. */
import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openReader } from '../../packages/recording/src/reader/open-reader.ts'
import { held, type Limit, limitText, number, type Section } from '../report.ts'
import { median, quantile } from '../rounds.ts'
import { type LargeSpec, largeRecording, locateFault } from './large-recording.ts'
import { writeBigRecording } from './recording.ts'
import { delayMs, type ReplayServer, startReplay } from './replay-server.ts'

const spec: LargeSpec = { frames: 110_000, bodies: 20, resting: 2 }
const frameCalls = 500
/** Milliseconds. */
const diagnosisLimit = { most: 1000 }

/** Measures over HTTP with a server that has never opened the recording, and again after its restart. */
export async function measureLarge(server: readonly string[], folder: string): Promise<readonly Section[]> {
  const path = await largeRecording(spec)
  const small = await writeBigRecording(folder)
  const env = {
    CAUSEWAY_DATA_DIR: join(folder, 'large-data'),
    CAUSEWAY_RECORDING_ROOTS: `${dirname(path)}:${folder}`,
    MCP_SERVER_PORT: '0',
  }
  const megabytes = statSync(path).size / 1e6
  const plain = copyMs(path, join(folder, 'plain.db'))
  const first = await startReplay(server, env)
  const loaded = await first.tool('load_recording', { path })
  const firstFrame = await first.tool('get_frame', { recording: path, frame_id: 61_803 })
  const nextFrame = await first.tool('get_frame', { recording: path, frame_id: 20_011 })
  await first.tool('load_recording', { path: small })
  await delayMs(first.program.url, 'p99')
  const meanwhile: number[] = []
  const began = performance.now()
  while ((await first.preparing()) > 0) {
    for (let call = 0; call < 20; call++)
      meanwhile.push(
        (await first.tool('get_frame', { recording: small, frame_id: 1 + ((call * 37) % 1600) })).ms,
      )
    await pause(20)
  }
  const preparedMs = performance.now() - began
  const delay = await delayMs(first.program.url, 'p99')
  const frames: number[] = []
  for (let call = 0; call < frameCalls; call++)
    frames.push(
      (await first.tool('get_frame', { recording: path, frame_id: 1 + ((call * 7919) % spec.frames) })).ms,
    )
  const ready = await diagnoseMs(first, path, {})
  const whole = await diagnoseMs(first, path, { start_frame: 2 })
  const again = await diagnoseMs(first, path, { start_frame: 3 })
  await first.stop()

  const second = await startReplay(server, env)
  await second.tool('load_recording', { path })
  const restarted = await diagnoseMs(second, path, {})
  await second.stop()
  const inside = await measureInside(path)
  const title = `A recording of ${number(megabytes)} MB, ${number(spec.frames)} frames of ${spec.bodies} bodies`
  return [
    {
      title,
      about: `Over HTTP, once, on a server that has not loaded it before; meanwhile another client reads frames of a small recording. A plain copy of the file on this disk took ${number(plain / megabytes)} s/GB.`,
      head: ['', 'measured', 'unit', 'budget'],
      rows: [
        ['load_recording, with the private copy', number(loaded.ms / megabytes), 's/GB', '≤ 4 for the copy'],
        ['first get_frame on the copy, and of this server', ...judged(firstFrame.ms, 'ms', { most: 5 })],
        ['another frame, before there is an index', ...judged(nextFrame.ms, 'ms', { most: 5 })],
        ['background: check, index, write columns and diagnose', number(preparedMs / 1000), 's', ''],
        ['meanwhile: event loop delay, p99', ...judged(delay, 'ms', { most: 20 })],
        ['meanwhile: get_frame of the small one, p50', number(median(meanwhile)), 'ms', ''],
        ['meanwhile: get_frame of the small one, p99', number(quantile(meanwhile, 0.99)), 'ms', ''],
        ['get_frame once indexed, p50, over HTTP', number(median(frames)), 'ms', ''],
        ['of it reading the frame, p50', ...judged(inside.frameMs, 'ms', { most: 0.5 })],
      ],
    },
    {
      title: `Diagnosis of ${number(spec.frames)} frames of ${spec.bodies} bodies`,
      about: `Over HTTP; the fault is found each time. Reading the same rows from SQLite once takes ${number(inside.rowsMs)} ms.`,
      head: ['', 'ms', 'of reading the rows', 'budget'],
      rows: [
        ['the first question, once prepared', ready],
        ['another range, nothing cached: all laws, all frames', whole],
        ['yet another range, columns in their file', again],
        ['the first question after a restart', restarted],
      ].map(([name, ms]) => [
        String(name),
        held(Number(ms), diagnosisLimit),
        number(Number(ms) / inside.rowsMs),
        limitText(diagnosisLimit),
      ]),
    },
  ]
}

function copyMs(from: string, to: string): number {
  const before = performance.now()
  copyFileSync(from, to)
  const ms = performance.now() - before
  rmSync(to)
  return ms
}

async function diagnoseMs({ tool }: ReplayServer, recording: string, range: object): Promise<number> {
  const { ms, answer } = await tool('diagnose', { recording, ...range })
  const { frame, body } = locateFault(spec)
  const found = JSON.stringify(answer)
  if (
    !found.includes('quaternion_norm') ||
    !found.includes(`"first":${frame}`) ||
    !found.includes(`[${body}]`)
  )
    throw new Error(`the fault was not found: ${found.slice(0, 500)}`)
  return ms
}

/** Measures reading without server and threads: an indexed frame, and all rows that a diagnosis reads. */
async function measureInside(path: string): Promise<{ readonly frameMs: number; readonly rowsMs: number }> {
  const { finishCopy, prepareCopy } = await import('../../packages/recording/src/library/prepare.ts')
  const folder = mkdtempSync(join(dirname(path), 'copy-'))
  try {
    const file = join(folder, 'copy.db')
    copyFileSync(path, file)
    prepareCopy(file, true)
    finishCopy(file)
    const reader = openReader(file)
    const times = Array.from({ length: frameCalls }, (_, call) => {
      const before = performance.now()
      reader.frame(1 + ((call * 7919) % spec.frames))
      return performance.now() - before
    })
    const summary = reader.summary()
    const before = performance.now()
    let rows = 0
    const call = { signal: new AbortController().signal, progress() {} }
    for await (const { states } of reader.windows(summary).over({ start: null, end: null }, call))
      rows += states.shape[0] ?? 0
    const rowsMs = performance.now() - before
    reader.close()
    if (rows < spec.frames) throw new Error(`${rows} of ${spec.frames} frames were read`)
    return { frameMs: median(times), rowsMs }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Returns the cells of a figure, its unit and its budget. */
const judged = (value: number, unit: string, limit: Limit): readonly string[] => [
  held(value, limit),
  unit,
  limitText(limit),
]
