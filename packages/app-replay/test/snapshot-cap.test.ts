import { openForTest } from '@causeway/app-kit/testing'
import t from 'tap'
import replay from '../src/index.ts'
import type { Replay } from '../src/store.ts'

t.test('Replay: private copies are bounded by the setting', async (t) => {
  const app = await openForTest(replay, { dir: t.testdir(), settings: { snapshotCapBytes: 12_345 } })
  t.teardown(() => app.close())
  t.match((app.store as Replay).health(), { snapshot_cap_bytes: 12_345 })
})
