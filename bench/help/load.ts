/** Measures the latency of Help over indexes of several sizes, and during a build. The corpus consists of generated words. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openForTest } from '@causeway/app-kit/testing'
import help from '../../packages/app-help/src/index.ts'
import type { Help } from '../../packages/app-help/src/store.ts'
import { held, limitText, number, type Section } from '../report.ts'
import { quantile } from '../rounds.ts'

/** Writes pages of ten chunks each, with the word frequencies of a natural language (Zipf). */
export function writePages(folder: string, pieces: number): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const words = wordStream(7)
  for (let page = 0; page * 10 < pieces; page++) {
    const sections = Array.from(
      { length: 10 },
      (_, i) => `## Part ${i} of ${words()} ${words()}\n\n${Array.from({ length: 110 }, words).join(' ')}.`,
    )
    mkdirSync(join(folder, `s${page % 50}`), { recursive: true })
    writeFileSync(
      join(folder, `s${page % 50}`, `p${page}.md`),
      `# Page ${page}\n\n${sections.join('\n\n')}\n`,
    )
  }
}

/** Returns questions of six such words. */
export function questions(count: number): string[] {
  const words = wordStream(11)
  return Array.from({ length: count }, () => Array.from({ length: 6 }, words).join(' '))
}

function wordStream(seed: number): () => string {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const rank = Math.floor(Math.exp((state / 2 ** 32) * Math.log(20_000)))
    return `w${rank.toString(36)}x`
  }
}

/** Opens an app over a folder and builds its index. */
export async function openOver(
  folder: string,
  data: string,
): Promise<{ store: Help; close(): Promise<void> }> {
  const app = await openForTest(help, {
    dir: data,
    settings: { helpSources: [`bench=${folder}`], helpBuild: false },
    now: Date.now,
  })
  const store = app.store as Help
  await store.build()
  return { store, close: app.close }
}

/** The 95th percentile during a build divided by that at rest. */
const ratioLimit = { most: 5 }

const request = (text: string) => ({
  text,
  top_n: 10,
  chunks_per_result: 3,
  mode: 'hybrid' as const,
  scope: { internal: false },
  max_chars: 20_000,
})

/** Returns the latencies of sequential questions in milliseconds. */
async function times(store: Help, texts: readonly string[]): Promise<number[]> {
  const found: number[] = []
  for (const text of texts) {
    const before = performance.now()
    await store.search(request(text), new AbortController().signal)
    found.push(performance.now() - before)
  }
  return found
}

/** Measures latency over indexes of 1,000, 10,000 and, with `all`, 100,000 chunks. */
export async function measureSizes(folder: string, { all }: { all: boolean }): Promise<Section> {
  const rows: string[][] = []
  for (const pieces of [1000, 10_000, ...(all ? [100_000] : [])]) {
    writePages(join(folder, 'pages'), pieces)
    const before = performance.now()
    const { store, close } = await openOver(join(folder, 'pages'), join(folder, `data-${pieces}`))
    const build = performance.now() - before
    await times(store, questions(5))
    const measured = await times(store, questions(60))
    const { items } = await store.facts()
    const limit = pieces === 10_000 ? { most: 20 } : undefined
    const p50 = quantile(measured, 0.5)
    rows.push([
      number(items),
      limit === undefined ? number(p50) : held(p50, limit),
      number(quantile(measured, 0.95)),
      limit === undefined ? '' : limitText(limit),
      number(build / 1000),
    ])
    await close()
  }
  return {
    title: 'Help: questions',
    about: 'A question of six words through the worker, one after the other; 60 questions.',
    head: ['pieces', 'p50, ms', 'p95, ms', 'budget of p50', 'first build, s'],
    rows,
  }
}

/** Runs sixteen concurrent questions over a corpus of 20 MB, at rest and during a build, and measures the event loop. */
export async function measureRebuild(folder: string): Promise<Section> {
  writePages(join(folder, 'pages'), 35_000)
  const { store, close } = await openOver(join(folder, 'pages'), join(folder, 'data-rebuild'))
  await times(store, questions(5))
  const idle = await together(store)
  writeFileSync(join(folder, 'pages/s0/p0.md'), '# Page 0\n\nrewritten')
  const lag = watchLag()
  const build = store.build()
  const rounds: number[] = []
  while (store.getBuildProgress() !== undefined) rounds.push(...(await together(store)))
  await build
  const longest = lag.stop()
  await close()
  const [p95, busy] = [quantile(idle, 0.95), quantile(rounds, 0.95)]
  return {
    title: 'Help: a rebuild under load',
    about: 'A corpus of 20 MB; 200 questions, 16 at a time, before and again and again during a build.',
    head: ['', 'value', 'unit', 'budget'],
    rows: [
      ['p95 at rest', number(p95), 'ms', ''],
      ['p95 during the build', number(busy), 'ms', ''],
      ['ratio', held(busy / p95, ratioLimit), '', limitText(ratioLimit)],
      ['questions answered during the build', number(rounds.length), '', ''],
      ['longest wait of the event loop', number(longest), 'ms', ''],
    ],
  }
}

async function together(store: Help): Promise<number[]> {
  const texts = questions(200)
  const found: number[] = []
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let text = texts.pop(); text !== undefined; text = texts.pop())
        found.push(...(await times(store, [text])))
    }),
  )
  return found
}

/** Measures the delay of a 5 ms timer. */
function watchLag() {
  let longest = 0
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    longest = Math.max(longest, now - last - 5)
    last = now
  }, 5)
  return {
    stop() {
      clearInterval(timer)
      return longest
    },
  }
}
