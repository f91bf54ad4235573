import { verifies } from '../../../test/verifies.ts'
import { openReplay } from './replay-kit.ts'

verifies(
  'replay:prompts',
  'debug_recording: leads from diagnose over explain_frame to the evidence',
  async (t) => {
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
  },
)

verifies(
  'replay:prompts',
  'compare_before_after: leads from where two runs part to what became better or worse',
  async (t) => {
    const client = (await openReplay(t, ['drop', 'stack'])).client()
    const asked = { before: 'drop', after: 'stack', question: 'less bounce' }
    const text = JSON.stringify(await client.prompt('compare_before_after', asked))
    const steps = ['find_first_divergence', 'diagnose', 'compare_recordings', 'plot', 'save_baseline']
    const places = steps.map((step) => text.indexOf(step))
    t.ok(places.every((at) => at > 0))
    t.same(
      places,
      places.toSorted((a, b) => a - b),
    )
    t.match(text, /drop.*before.*stack.*after.*less bounce/)
    await t.rejects(client.prompt('compare_before_after', { before: 'drop' }), { code: 'INVALID_PARAMS' })
  },
)
