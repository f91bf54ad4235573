import t from 'tap'
import { openReplay } from './replay-kit.ts'

t.test('debug_recording: leads from diagnose over explain_frame to the evidence', async (t) => {
  const client = (await openReplay(t, ['drop'])).client()
  const messages = await client.prompt('debug_recording', { recording: 'drop', symptom: 'it bounces' })
  const text = JSON.stringify(messages)
  const steps = ['load_recording', 'diagnose', 'explain_frame', 'evidence_calls'].map((step) =>
    text.indexOf(step),
  )
  t.ok(steps.every((at) => at > 0))
  t.same(
    steps,
    steps.toSorted((a, b) => a - b),
  )
  t.match(text, /"drop\\?".*it bounces/)
})
