import { execFile } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { verifies } from '../../../test/verifies.ts'
import { ask, emptyFolders, openOver } from './debrief-kit.ts'

const never = { settings: { plotSaveMs: 3_600_000, plotCheckMs: 60_000 } }

/** Runs as a user for whom permissions count, since for root they do not. */
async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(65_534)
  try {
    return await work()
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
}

verifies('debrief:save:failed', 'a read-only folder', async (t) => {
  const client = await ask(t, 'sample', { ...never, isShared: true })
  const before = client.file('sample')
  chmodSync(join(client.dir, 'data'), 0o777)
  await client.ask('delete_features', { ids: ['feature1'] })
  chmodSync(client.folder, 0o555)
  await asNobody(async () => {
    t.match(await client.refusal('save_plot'), {
      code: 'PLOT_READONLY',
      data: { filename: 'sample.plot.json' },
      remedy: /save_as/,
    })
  })
  t.match(await client.ask('get_features'), { total: 5, dirty: true })
  t.equal(client.file('sample'), before)
  t.same(readdirSync(client.folder), ['sample.plot.json'])
  chmodSync(client.folder, 0o755)
  t.match(await client.ask('save_plot'), { dirty: false })
  t.equal(JSON.parse(client.file('sample')).features.length, 5)
})

verifies('debrief:save:failed', 'a full disk, and a restart after it', async (t) => {
  const dir = emptyFolders(t)
  const path = join(dir, 'plots', 'wide.plot.json')
  const feature = (id: number) => ({
    type: 'Feature',
    id,
    geometry: { type: 'Point', coordinates: [0, 50] },
    properties: { text: 'y'.repeat(1000) },
  })
  const features = Array.from({ length: 500 }, (_, id) => feature(id))
  const before = JSON.stringify({ type: 'FeatureCollection', features })
  writeFileSync(path, before)
  const script = fileURLToPath(new URL('full-disk.ts', import.meta.url))
  // Blocks of 512 bytes: a little more than the file has now. What a test runner loads would die of the limit's signal.
  const shell = `unset NODE_OPTIONS; ulimit -f ${Math.ceil(before.length / 512) + 8}; exec "$0" "$@"`
  const node = [process.execPath, '--conditions=@causeway/source', script, dir]
  const { stdout } = await promisify(execFile)('sh', ['-c', shell, ...node])
  t.same(JSON.parse(stdout), { code: 'SAVE_FAILED', total: 501, files: ['wide.plot.json'] })
  t.equal(readFileSync(path, 'utf8'), before)

  const later = await openOver(t, dir, { now: () => Date.now() + 660_000 })
  const client = later.client()
  t.match(await client.ask('get_features', { limit: 1 }), { total: 501 }, 'the change has not been lost')
  await client.ask('save_plot')
  t.equal(JSON.parse(later.file('wide')).features.length, 501)
})
