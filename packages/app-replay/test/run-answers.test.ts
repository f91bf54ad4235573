import { verifies } from '../../../test/verifies.ts'
import type { Replay } from '../src/store.ts'
import { openReplay } from './replay-kit.ts'

/** Calls that read a whole recording, each in its own way. */
const calls: readonly (readonly [tool: string, args: object])[] = [
  ['diagnose', {}],
  ['find_energy_anomalies', { threshold: 0.5 }],
  ['get_solver_diagnostics', {}],
  ['check_friction_cone', { frame_id: 50 }],
  ['check_resting_contact', { frame_id: 50 }],
  ['query_sql', { sql: 'SELECT count(*), sum(depth) FROM v_contact' }],
]

for (const name of ['energy_injection', 'slide_at_45', 'penetration']) {
  verifies(
    'replay:runs:answers',
    `runs: ${name} is answered the same when it is a run of ours`,
    async (t) => {
      const { app, client } = await openReplay(t, [name])
      await (app.store as Replay).importRecording('run', name)
      const one = client()
      for (const [tool, args] of calls) {
        const answer = async (recording: string) => {
          const { recording: _, ...rest } = await one.call(tool, { ...args, recording })
          return rest
        }
        t.same(await answer('run'), await answer(name), tool)
      }
    },
  )
}
