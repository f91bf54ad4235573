import { copyFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { measure } from '../../fixtures/generate/recordings/energy.ts'
import { loadEngine, simulate } from '../../fixtures/generate/recordings/engine.ts'
import { current } from '../../fixtures/generate/recordings/eras.ts'
import { record } from '../../fixtures/generate/recordings/recorder.ts'
import { healthy } from '../../fixtures/generate/recordings/scenes.ts'
import { ask } from '../load.ts'
import type { Program } from '../program.ts'
import { held, limitText, number, type Section } from '../report.ts'
import { interleaved, median, quantile } from '../rounds.ts'

const rounds = 5
const frameCalls = 300
/** Milliseconds. */
const loadLimit = { most: 400 }
/** Number of frames of three stacked cubes that yield a file of about 10 MB. */
const frames = 1600

/** The state of the server during an operation or at rest. */
interface Watched {
  readonly ms: number
  /** Maximum delay of the event loop in milliseconds; the timer adds about 10 ms. */
  readonly delayMs: number
}

/** Writes a recording of about 10 MB to a folder and returns its path. */
export async function writeBigRecording(folder: string): Promise<string> {
  const stack = healthy.find(({ name }) => name === 'stack')
  if (stack === undefined) throw new Error('there is no scene "stack"')
  const scene = { ...stack.scene, frames }
  const path = join(folder, 'big.db')
  const taken = measure(simulate(await loadEngine(), scene), scene.bodies)
  record(path, current.schema, current.writers, { bodies: scene.bodies, frames: taken, mu: scene.mu })
  return path
}

/** Loads copies of the recording that the server has not opened, monitors the event loop, and reads frames. */
export async function measureRecording(causeway: Program, original: string): Promise<Section> {
  const pool = new Pool(causeway.url, { connections: 1 })
  const tool = async (name: string, args: object): Promise<string> => {
    const path = `/api/apps/replay/tools/${name}`
    const headers = { 'content-type': 'application/json', 'causeway-session': 'bench' }
    return ask({ pool, program: causeway, path, headers, body: () => JSON.stringify(args) })
  }
  let copies = 0
  const newCopy = (): string => {
    copies += 1
    const path = original.replace('.db', `-${copies}.db`)
    copyFileSync(original, path)
    return path
  }
  const watched = async (what: () => Promise<unknown>): Promise<Watched> => {
    await delayMs(causeway.url)
    const before = performance.now()
    await what()
    const ms = performance.now() - before
    return { ms, delayMs: await delayMs(causeway.url) }
  }
  const first = newCopy()
  await tool('load_recording', { path: first })
  const measured = await interleaved<Watched>(
    [
      {
        name: 'load',
        run: () => {
          const path = newCopy()
          return watched(() => tool('load_recording', { path }))
        },
      },
      { name: 'idle', run: () => watched(() => pause(300)) },
    ],
    rounds,
  )
  const times: number[] = []
  for (let call = 0; call < frameCalls; call += 1) {
    const before = performance.now()
    await tool('get_frame', { recording: first, frame_id: 1 + ((call * 37) % frames) })
    times.push(performance.now() - before)
  }
  await pool.close()
  const of = (name: string, key: keyof Watched): number =>
    median((measured.get(name) ?? []).map((one) => one[key]))
  const megabytes = number(statSync(original).size / 1e6)
  return {
    title: `A recording of ${megabytes} MB`,
    about: `Over HTTP, ${rounds} files that are new to the server, alternating with idle pauses; ${frameCalls} random frames.`,
    head: ['', 'median', 'unit', 'budget'],
    rows: [
      ['load_recording', held(of('load', 'ms'), loadLimit), 'ms', limitText(loadLimit)],
      ['longest event loop delay while loading', number(of('load', 'delayMs')), 'ms', 'as idle'],
      ['longest event loop delay while idle', number(of('idle', 'delayMs')), 'ms', ''],
      ['get_frame, p50', number(median(times)), 'ms', ''],
      ['get_frame, p95', number(quantile(times, 0.95)), 'ms', ''],
    ],
  }
}

/** Returns the maximum delay of the server's event loop since the last call in milliseconds. */
async function delayMs(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^causeway_nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text)?.[1]) * 1000
}
