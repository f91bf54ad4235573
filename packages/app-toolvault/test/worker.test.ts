import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { mock } from 'node:test'
import type { ToolContext } from '@causeway/app-kit'
import { WorkerPool } from '@causeway/worker'
import t from 'tap'
import { ownShipLog } from '../../../fixtures/generate/tracks/logs.ts'
import { play, scenes } from '../../../fixtures/generate/tracks/scene.ts'
import { verifies } from '../../../test/verifies.ts'
import { catalog } from '../src/catalog/catalog.ts'
import { readSamples } from '../src/catalog/samples.ts'
import toolvault from '../src/index.ts'
import { listFeatures, openVault, track } from './vault-kit.ts'

const long = (id: string, fixes: number, shift = 0) =>
  track(
    id,
    Array.from({ length: fixes }, (_, i) => [
      -5 + 0.0005 * i + shift,
      36 + 0.1 * Math.sin(i / 50) + 0.0003 * ((i * 7919) % 13),
    ]),
  )

verifies('toolvault:worker', 'a run in a worker returns the same result as in the main thread', async (t) => {
  const { command, app, client } = await openVault(t)
  const tracks = [long('a', 600)]
  const args = { tracks, tolerance_m: 100 }
  const inWorker = await command('simplify_track', args)
  t.match(await app.client().call('word_count', { text: 'x' }), { command: 'showText' })
  const tool = catalog.find(({ name }) => name === 'simplify_track')
  if (tool === undefined || !('run' in tool)) {
    t.fail('simplify_track does not exist')
    return
  }
  const steps = tool.run({ ...args, deviation: 'time' }, () => '')
  if ('command' in steps) {
    t.fail('simplify_track does not run in steps')
    return
  }
  let step = steps.next()
  while (!step.done) step = steps.next()
  t.same(inWorker, step.value)
  t.match((app.store as { health(): unknown }).health(), { workers: 1, runs: { inline: 1, worker: 1 } })
  await t.rejects(client.call('simplify_track', { tracks: [{ ...tracks[0], properties: {} }] }), {
    code: 'NO_TIME_DATA',
  })
})

t.test('a run in a worker passes the client to the worker pool', async (t) => {
  const call = mock.method(WorkerPool.prototype, 'call')
  t.teardown(() => call.mock.restore())
  const { command } = await openVault(t)
  await command('simplify_track', { tracks: [long('a', 600)], tolerance_m: 100 })
  t.match(
    call.mock.calls.map(({ arguments: [, , options] }) => options),
    [{ client: 'test' }],
  )
})

t.test('a short run does not create an abort signal', async (t) => {
  const { app, client } = await openVault(t)
  const ctx = {
    store: app.store,
    get signal(): never {
      throw new Error('the signal was read')
    },
  } as unknown as ToolContext
  const call = (name: string, args: object) =>
    toolvault.tools.find((tool) => tool.name === name)?.call(args, ctx)
  const tracks = [long('a', 10)]
  t.match(await call('word_count', { text: 'x' }), { structuredContent: { command: 'showText' } })
  t.match(await call('simplify_track', { tracks, tolerance_m: 100 }), {
    structuredContent: await client.call('simplify_track', { tracks, tolerance_m: 100 }),
  })
})

verifies('toolvault:worker', async (t) => {
  const { client } = await openVault(t)
  const tracks = Array.from({ length: 12 }, (_, index) => long(`t${index}`, 1500, index * 0.001))
  const controller = new AbortController()
  const call = client.call('cpa_tcpa', { tracks }, { signal: controller.signal })
  const watch = setInterval(() => {
    if (client.progress.length > 0) controller.abort()
  }, 5)
  t.teardown(() => clearInterval(watch))
  await t.rejects(call, { code: 'CANCELLED' })
  const [first] = client.progress
  t.equal(first?.[1], 66, 'reports progress over all pairs')
  await t.resolves(client.call('track_stats', { tracks: tracks.slice(0, 1) }), 'the worker remains available')
})

verifies('toolvault:worker', 'an import reports its progress in bytes and can be cancelled', async (t) => {
  const [scene] = scenes
  if (scene === undefined) {
    t.fail('the scene does not exist')
    return
  }
  const [vessel] = play({ ...scene, vessels: 1 }).vessels
  if (vessel === undefined) {
    t.fail('the scene has no vessel')
    return
  }
  const text = ownShipLog(vessel).text.repeat(30)
  const { client, command } = await openVault(t, { 'long.nmea': text })
  const args = { path: 'long.nmea', date: '2024-03-01' }
  const controller = new AbortController()
  const call = client.call('import_nmea', args, { signal: controller.signal })
  const watch = setInterval(() => {
    if (client.progress.length > 0) controller.abort()
  }, 2)
  t.teardown(() => clearInterval(watch))
  await t.rejects(call, { code: 'CANCELLED' })
  t.equal(client.progress[0]?.[1], Buffer.byteLength(text))
  const [whole] = listFeatures(await command('import_nmea', args))
  t.ok(((whole?.geometry?.coordinates ?? []) as unknown[]).length > 600)
})

const tools = join(import.meta.dirname, '../src/tools')
const notTools = ['arguments.ts', 'import-arguments.ts']

t.test('the catalog lists exactly the files in tools/', async (t) => {
  const files = readdirSync(tools, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !notTools.includes(entry.name))
    .map(({ name }) => name.replace('.ts', '').replaceAll('-', '_'))
  t.same(catalog.map(({ name }) => name).sort(), files.sort())
})

t.test('every sample produces its expected output', async (t) => {
  const { command } = await openVault(t)
  for (const tool of catalog)
    for (const sample of readSamples(tool))
      t.same(await command(tool.name, sample.input), sample.expectedOutput, `${tool.name} ${sample.name}`)
})
