import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { ask, rowsOf } from '../replay-kit.ts'

verifies('replay:solver:range', async (t) => {
  const client = await ask(t, 'solver_stall')
  const answer = await client.call('get_solver_diagnostics')
  const frames = rowsOf(answer.diagnostics).map(({ frame_id }) => frame_id)
  t.same([frames[0], frames.at(-1), frames.length], [1, 80, 80])
  t.match(answer, { start_frame: 1, end_frame: 80, max_residual_frame: 39 })
})

t.test('get_solver_diagnostics: names the frames in which the solver stalled', async (t) => {
  const client = await ask(t, 'solver_stall')
  const answer = await client.call('get_solver_diagnostics')
  t.same(answer.not_converged, [30, 31, 32, 33, 34, 35, 36, 37, 38, 39])
  t.match(answer.summary, /not converged in 10 \(30, 31, 32, 33, 34 and 5 more\)/)
})
