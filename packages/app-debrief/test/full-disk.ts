/** A process whose files cannot grow beyond a limit. It makes a change and prints the result as JSON. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { makeRoots } from '@causeway/app-kit'
import { openForTest } from '@causeway/app-kit/testing'
import { asCausewayError } from '@causeway/protocol'
import debrief from '../src/index.ts'

const [dir = ''] = process.argv.slice(2)
const folder = join(dir, 'plots')
const app = await openForTest(debrief, {
  dir: join(dir, 'data'),
  roots: makeRoots(() => [folder], 'CAUSEWAY_PLOT_ROOTS'),
  settings: { plotSaveMs: 3_600_000 },
  now: Date.now,
})
const client = app.client()
await client.call('open_plot', { filename: 'wide.plot.json' })
const feature = {
  type: 'Feature',
  id: 'added',
  geometry: { type: 'Point', coordinates: [0, 50] },
  properties: { text: 'x'.repeat(20_000) },
}
await client.call('add_features', { features: [feature] })
const code = await client.call('save_plot').then(
  () => 'saved',
  (error: unknown) => asCausewayError(error).code,
)
const { total } = await client.call('get_features')
await app.close()
await pause(1)
process.stdout.write(JSON.stringify({ code, total, files: readdirSync(folder) }))
