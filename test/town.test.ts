/** Tests the simulated town in-process, without a server. */
import t from 'tap'
import { type Action, findViolation } from './town/act.ts'
import { createRandomDeciders } from './town/baseline.ts'
import { perceive } from './town/observe.ts'
import { loadPreset, presetNames } from './town/preset.ts'
import { type Deciders, runTown } from './town/run.ts'
import { criticalShare, evaluateRuns } from './town/score.ts'
import { Town } from './town/town.ts'

const act = (action: string, parameters: Action['parameters'] = {}): Action => ({ action, parameters })

const createDeciders = (decide: Deciders['decide']): Deciders => ({
  async begin() {},
  async sleep() {},
  decide,
})

t.test('town: the same seed yields the same run, and another seed a different one', async (t) => {
  const run = (seed: number) => runTown({ preset: 'scarce', seed, days: 0.5 }, createRandomDeciders(seed))
  const [first, second, other] = [await run(1), await run(1), await run(2)]
  t.equal(second.hash, first.hash)
  t.not(other.hash, first.hash)
})

t.test('town: random actions are legal but leave needs critical in every preset', async (t) => {
  for (const preset of presetNames) {
    const run = await runTown({ preset, seed: 3, days: 3 }, createRandomDeciders(3))
    t.same(run.tally.illegal, [], preset)
    t.ok(criticalShare(run) > 0.15, `${preset}: ${criticalShare(run)}`)
  }
})

t.test('town: actions without an offer, an invitation or valid parameters are illegal', async (t) => {
  const town = new Town(loadPreset('rich'), 1)
  const [body] = town.characters
  if (body === undefined) throw new Error('the town has no characters')
  const perceived = perceive(town, body)
  const illegal = [
    act('fly'),
    act('move_to', { destination: 'home' }),
    act('interact_with', { entity_id: 'unknown', interaction_name: 'eat' }),
    act('act_in_interaction', { message: 'Hello.' }),
    act('cancel_interaction'),
    act('respond_to_interaction_bid', { bid_id: 'bid_1', accept: true }),
    act('batch_reject_interaction_bids', { ids: '*', reason: 'no' }),
  ]
  for (const action of illegal) t.type(findViolation(action, perceived, new Set()), 'string', action.action)
  const legal = [act('wait'), act('wander'), act('continue'), act('move_to', { destination: [1, 1] })]
  for (const action of legal) t.equal(findViolation(action, perceived, new Set()), undefined, action.action)
})

t.test('characters that never speak miss the targets for conversations', async (t) => {
  const silent = createDeciders(async (body) => {
    const [bid] = body.bids.keys()
    return bid === undefined
      ? act('continue')
      : act('respond_to_interaction_bid', { bid_id: bid, accept: true })
  })
  const run = await runTown({ preset: 'rich', seed: 4, days: 1 }, silent)
  const findOutcome = (start: string) => evaluateRuns([run]).find(({ name }) => name.startsWith(start))
  t.equal(findOutcome('questions')?.isMet, false)
  t.equal(findOutcome('conversations')?.isMet, false)
  t.equal(findOutcome('unmentioned things: declined')?.isMet, false)
  t.equal(findOutcome('illegal')?.isMet, true)
})

t.test('town: an illegal action is counted and not executed', async (t) => {
  const run = await runTown(
    { preset: 'rich', seed: 5, days: 0.1 },
    createDeciders(async () => act('fly')),
  )
  t.equal(run.tally.illegal.length, run.tally.decisions)
  t.ok(run.tally.decisions > 0)
})
