/**
 * A process that increments a number in a plot until it is killed, and prints each number after its change has
 * succeeded.
 */
import { join } from 'node:path'
import { makeRoots } from '@causeway/app-kit'
import { openForTest } from '@causeway/app-kit/testing'
import debrief from '../src/index.ts'
import { counted } from './counted.ts'

const [dir = '', round = ''] = process.argv.slice(2)
const app = await openForTest(debrief, {
  dir: join(dir, 'data'),
  roots: makeRoots(() => [join(dir, 'plots')], 'CAUSEWAY_PLOT_ROOTS'),
  settings: { plotSaveMs: 0 },
  // Each process numbers its requests from 1. Stored results expire, so that requests do not return them.
  now: () => Date.now() + Number(round) * 660_000,
})
const client = app.client()
const filename = 'counted.plot.json'
await client.call('open_plot', { filename })
const { features } = (await client.call('get_features', { detail: 'full' })) as {
  features: { properties: { count: number } }[]
}
let count = features[0]?.properties.count ?? 0
process.stdout.write(`begins ${count}\n`)
for (;;) {
  count += 1
  await client.call('update_features', { features: [counted(count)] })
  process.stdout.write(`${count}\n`)
}
