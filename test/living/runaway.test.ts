/** Calls that end the worker which runs them: in apps whose calls share a worker. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openForTest } from '@causeway/app-kit/testing'
import { WorkerLink } from '@causeway/worker'
import t, { type Test } from 'tap'
import { emptyFolders, openOver } from '../../packages/app-debrief/test/debrief-kit.ts'
import { widePlot } from '../../packages/app-debrief/test/wide-plot.ts'
import help from '../../packages/app-help/src/index.ts'
import type { Help } from '../../packages/app-help/src/store.ts'
import { writeFiles } from '../../packages/app-help/test/help-kit.ts'
import { makeMind, openMinds } from '../../packages/app-minds/test/minds-kit.ts'
import { verifies } from '../verifies.ts'

t.setTimeout(120_000)

/** Ends every worker that receives a matching call. Returns counts of the matching calls and of the others that were interrupted. */
function killRunaways(
  t: Test,
  isRunaway: (method: string, args: unknown) => boolean,
): { runaways: number; interrupted: number } {
  const counts = { runaways: 0, interrupted: 0 }
  const { call } = WorkerLink.prototype
  t.teardown(() => {
    WorkerLink.prototype.call = call
  })
  WorkerLink.prototype.call = async function (method, args, options) {
    const matches = isRunaway(method, args)
    if (matches) {
      counts.runaways += 1
      // Terminates the worker first, because it could still answer the call while it exits.
      void this.kill()
    }
    return call
      .bind(this)(method, args as never, options)
      .catch((error: unknown) => {
        if (!matches && (error as { code?: string }).code === 'WORKER_LOST') counts.interrupted += 1
        throw error
      }) as never
  }
  return counts
}

/** Runs harmless calls around a runaway and requires the same results as without it. */
async function checkIsolation(
  t: Test,
  {
    harmless,
    runaway,
    isRunaway,
  }: {
    readonly harmless: () => Promise<unknown>
    readonly runaway: () => Promise<unknown>
    readonly isRunaway: (method: string, args: unknown) => boolean
  },
): Promise<void> {
  const expected = await harmless()
  const counts = killRunaways(t, isRunaway)
  // A worker may answer the calls in flight before it exits. In that case, another round is run.
  for (let round = 1; round <= 20 && counts.interrupted === 0; round += 1) {
    const before = [harmless(), harmless(), harmless()]
    const failed = t.rejects(runaway(), { code: 'WORKER_LOST' }, 'the call that ends its worker fails')
    const results = await Promise.all([...before, harmless(), harmless()])
    await failed
    for (const result of results) t.same(result, expected, 'a call at the same time has its result')
  }
  t.same(await harmless(), expected, 'a later call has its result')
  t.ok(counts.runaways >= 1)
  t.ok(counts.interrupted >= 1, `${counts.interrupted} calls lost their worker and were repeated`)
}

/** Matches a call by a word of its arguments; `method` excludes calls that open a worker with the path of this test. */
const matching =
  (method: string, word: string) =>
  (name: string, args: unknown): boolean =>
    name === method && JSON.stringify(args).includes(word)

verifies('limits:worker:isolated', 'a runaway search of Help does not fail other searches', async (t) => {
  const folder = t.testdir({ data: {}, docs: {} })
  writeFiles(folder, { 'docs/lamps.md': `# Lamps\n\nA lamp needs oil. ${'light '.repeat(40)}` })
  const app = await openForTest(help, {
    dir: join(folder, 'data'),
    settings: { helpSources: [`docs=${join(folder, 'docs')}`] },
  })
  t.teardown(() => app.close())
  await (app.store as Help).build()
  const find = (text: string) => app.client().call('find_help_topics', { text })
  await checkIsolation(t, {
    harmless: () => find('lamp oil'),
    runaway: () => find('zanzibar lamp'),
    isRunaway: matching('search', 'zanzibar'),
  })
})

verifies('limits:worker:isolated', 'a runaway search of memories does not fail other searches', async (t) => {
  const minds = await openMinds(t, { settings: { mindsLimits: { worker_search_from: 1 } } })
  const houses = Array.from({ length: 20 }, (_, n) => `House ${n} is in Elm street.`)
  for (const mind of ['mara', 'rex']) await makeMind(minds, mind, { initial_long_term_memories: houses })
  const recall = (mind_id: string) => minds.call('recall_memories', { mind_id, query: 'House 7', k: 3 })
  await recall('rex')
  await checkIsolation(t, {
    harmless: () => recall('mara'),
    runaway: () => recall('rex'),
    isRunaway: (method, args) => method === 'search' && (args as { mindSeq: number }).mindSeq === 2,
  })
})

verifies('limits:worker:isolated', 'a runaway read of a plot does not fail other reads', async (t) => {
  const dir = emptyFolders(t)
  writeFileSync(join(dir, 'plots/wide.plot.json'), widePlot({ tracks: 40, vertices: 700 }))
  const opened = await openOver(t, dir)
  const client = opened.client()
  await client.ask('open_plot', { filename: 'wide.plot.json' })
  t.match(opened.store.health(), { in_workers: 1 })
  await client.ask('delete_features', { ids: ['track-0'] })
  const read = (data_type: string) => client.ask('get_features', { data_type, limit: 2 })
  await checkIsolation(t, {
    harmless: () => read('track'),
    runaway: () => read('zanzibar'),
    isRunaway: matching('read', 'zanzibar'),
  })
  t.match(await client.ask('get_features', { limit: 1 }), { total: 39 }, 'no change is lost')
})
