/** Measures the same queries over SQLite and a private PostgreSQL server, in one run. */
import { join } from 'node:path'
import { build } from '../../packages/app-help/src/build/build.ts'
import { readSources } from '../../packages/app-help/src/build/source.ts'
import { defaultSize } from '../../packages/app-help/src/domain/chunk.ts'
import { Queries } from '../../packages/app-help/src/search/queries.ts'
import { Reader } from '../../packages/app-help/src/search/reader.ts'
import { openStorage, type StorageSettings } from '../../packages/app-help/src/storage/open-storage.ts'
import { startCluster } from '../../test/postgres/cluster.ts'
import { held, limitText, number, type Section } from '../report.ts'
import { quantile } from '../rounds.ts'
import { questions, writePages } from './load.ts'

const chunks = 5000
const limit = { most: 100 }
/** Number of queries that are not measured. */
const warmUp = 5

/** Processor time of this process, in ms. */
function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Measures hybrid queries over 5,000 chunks. Omits PostgreSQL if it is not installed. */
export async function measureStores(folder: string): Promise<Section> {
  writePages(join(folder, 'pages'), chunks)
  const rows = [['SQLite', ...(await measureStore(folder, { dir: join(folder, 'data-stores') }))]]
  const cluster = startCluster()
  try {
    if (cluster !== undefined)
      rows.push([
        'PostgreSQL',
        ...(await measureStore(folder, { dir: folder, databaseUrl: cluster.url }, cluster.processorMs)),
      ])
  } finally {
    cluster?.stop()
  }
  return {
    title: 'Help: stores',
    about: `A hybrid query of six words over ${number(chunks)} chunks, one after the other; 60 queries. PostgreSQL has no pgvector; its processor time includes that of the server.`,
    head: ['store', 'p50, ms', 'p95, ms', 'budget of p50', 'processor time, ms', 'first build, s'],
    rows,
  }
}

/** `serverMs` returns the processor time of the store's other processes. */
async function measureStore(
  folder: string,
  settings: StorageSettings,
  serverMs: () => number = () => 0,
): Promise<string[]> {
  const storage = await openStorage(settings)
  const embedding = { provider: 'lsa' } as const
  const reader = new Reader(storage, embedding)
  const { signal } = new AbortController()
  const sources = readSources([`bench=${join(folder, 'pages')}`], folder)
  try {
    const started = performance.now()
    await build(
      { sources, size: defaultSize, embedding, rebuild: false, holder: 'bench' },
      { storage, now: Date.now, signal, progress() {} },
    )
    const buildMs = performance.now() - started
    const queries = new Queries(storage, reader)
    const request = { top_n: 10, chunks_per_result: 3, mode: 'hybrid', max_chars: 20_000 } as const
    const times: number[] = []
    let usedMs = 0
    for (const [at, text] of questions(65).entries()) {
      // The first queries read the vectors.
      if (at === warmUp) usedMs = processorMs() + serverMs()
      const before = performance.now()
      await queries.search({ ...request, text, scope: { internal: false } }, signal)
      times.push(performance.now() - before)
    }
    const measured = times.slice(warmUp)
    const used = (processorMs() + serverMs() - usedMs) / measured.length
    const p50 = held(quantile(measured, 0.5), limit)
    return [p50, number(quantile(measured, 0.95)), limitText(limit), number(used), number(buildMs / 1000)]
  } finally {
    await reader.close()
  }
}
