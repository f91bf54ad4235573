/** The town itself, without a server: it judges what is wrong, and cannot be pleased by silence. */
import t from 'tap'
import { type Action, illegalBecause } from './town/act.ts'
import { randomDeciders } from './town/baseline.ts'
import { perceive } from './town/observe.ts'
import { presetNames, presetOf } from './town/preset.ts'
import { type Deciders, runTown } from './town/run.ts'
import { criticalShare, outcomesOf } from './town/score.ts'
import { Town } from './town/town.ts'

const act = (action: string, parameters: Action['parameters'] = {}): Action => ({ action, parameters })

/** Bodies whose minds always do this. */
const always = (decide: Deciders['decide']): Deciders => ({ async begin() {}, async sleep() {}, decide })

t.test('town: the same seed gives the same town, another one another', async (t) => {
  const run = (seed: number) => runTown({ preset: 'scarce', seed, days: 0.5 }, randomDeciders(seed))
  const [first, again, other] = [await run(1), await run(1), await run(2)]
  t.equal(again.hash, first.hash)
  t.not(other.hash, first.hash)
})

t.test('town: random legal actions are legal, and leave needs critical in every kind of town', async (t) => {
  for (const preset of presetNames) {
    const run = await runTown({ preset, seed: 3, days: 3 }, randomDeciders(3))
    t.same(run.tally.illegal, [], preset)
    t.ok(criticalShare(run) > 0.15, `${preset}: ${criticalShare(run)}`)
  }
})

t.test('town: what was not offered, not invited or not possible is illegal', async (t) => {
  const town = new Town(presetOf('rich'), 1)
  const [body] = town.folk
  if (body === undefined) throw new Error('the town is empty')
  const seen = perceive(town, body)
  const wrong = [
    act('fly'),
    act('move_to', { destination: 'home' }),
    act('interact_with', { entity_id: 'unknown', interaction_name: 'eat' }),
    act('act_in_interaction', { message: 'Hello.' }),
    act('cancel_interaction'),
    act('respond_to_interaction_bid', { bid_id: 'bid_1', accept: true }),
    act('batch_reject_interaction_bids', { ids: '*', reason: 'no' }),
  ]
  for (const action of wrong) t.type(illegalBecause(action, seen, new Set()), 'string', action.action)
  const right = [act('wait'), act('wander'), act('continue'), act('move_to', { destination: [1, 1] })]
  for (const action of right) t.equal(illegalBecause(action, seen, new Set()), undefined, action.action)
})

t.test(
  'town: who accepts everybody and says nothing leaves questions open and conversations dead',
  async (t) => {
    const silent = always(async (body) => {
      const [bid] = body.bids.keys()
      return bid === undefined
        ? act('continue')
        : act('respond_to_interaction_bid', { bid_id: bid, accept: true })
    })
    const run = await runTown({ preset: 'rich', seed: 4, days: 1 }, silent)
    const outcome = (start: string) => outcomesOf([run]).find(({ name }) => name.startsWith(start))
    t.equal(outcome('questions')?.isMet, false)
    t.equal(outcome('conversations')?.isMet, false)
    t.equal(outcome('never told: declined')?.isMet, false)
    t.equal(outcome('illegal')?.isMet, true)
  },
)

t.test('town: an illegal action is counted and not carried out', async (t) => {
  const run = await runTown(
    { preset: 'rich', seed: 5, days: 0.1 },
    always(async () => act('fly')),
  )
  t.equal(run.tally.illegal.length, run.tally.decisions)
  t.ok(run.tally.decisions > 0)
})
