import { openForTest } from '@causeway/app-kit/testing'
import { verifies } from '../../../test/verifies.ts'
import { bodyOf, frameLines, runLine } from '../../recording/test/run-lines.ts'
import replay from '../src/index.ts'
import type { Replay } from '../src/store.ts'

verifies('replay:health:numbers', async (t) => {
  const settings = { snapshotCapBytes: 12_345, recordingsCapBytes: 1_000_000 }
  const app = await openForTest(replay, { dir: t.testdir(), settings })
  t.teardown(() => app.close())
  const { recorder } = app.store as Replay
  const numbers = () => replay.health(app.store)
  t.match(await numbers(), {
    snapshots: 0,
    snapshot_cap_bytes: 12_345,
    preparing: 0,
    runs: 0,
    run_bytes: 0,
    run_cap_bytes: 1_000_000,
  })
  await recorder.write('run', bodyOf([runLine, ...frameLines(1, 3)]))
  const live = await numbers()
  t.match(live, { runs: 1, live_runs: 1 })
  t.ok(Number(live.run_bytes) > 0, 'bytes of a run that is being written count')
  await recorder.finish('run')
  t.match(await numbers(), { runs: 1, live_runs: 0 })
  await recorder.remove('run')
  t.match(await numbers(), { runs: 0, run_bytes: 0 })
})
