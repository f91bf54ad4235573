import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { assessSituation } from '../../src/domain/menu.ts'
import type { MindEvent, Observation } from '../../src/domain/observation.ts'
import { type PolicyConstants, policyConstants } from '../../src/domain/policy/constants.ts'
import { perceive } from '../../src/domain/policy/perceive.ts'
import type { Places } from '../../src/domain/policy/place.ts'
import { selectAction } from '../../src/domain/policy/select.ts'
import { initialState, type MindState } from '../../src/domain/policy/state.ts'
import { computeUrgency } from '../../src/domain/policy/urgency.ts'
import { emptyWorkingMemory, updateFactualFields } from '../../src/domain/policy/working-memory.ts'
import { createRandom } from '../../src/domain/random.ts'
import { limitsSchema } from '../../src/limits.ts'
import { readObservation } from '../../src/wire/read-observation.ts'
import { createStove, type Data, observe, parseRelations } from '../minds-kit.ts'

const limits = limitsSchema.parse({})
const noRelations = parseRelations('')
const parseObservation = (time: number, change: Data = {}): Observation =>
  readObservation(observe('mara', time, change), limits).observation

interface PolicyState {
  readonly state: MindState
  readonly places: Places
}
const emptyState: PolicyState = { state: initialState, places: new Map() }

/** Runs one cycle of the policy, without memories. */
function runCycle(
  observation: Observation,
  previous: PolicyState = emptyState,
  events: readonly MindEvent[] = [],
  constants: PolicyConstants = policyConstants,
) {
  const { state, places, derivedEvents } = perceive(observation, events, previous, constants)
  const choice = selectAction({
    situation: assessSituation(observation, []),
    state,
    places,
    weights: {},
    constants,
    reminders: [],
    conversations: [],
    newMessages: [],
    recollections: [],
    mood: '',
    relations: noRelations,
    random: createRandom(1, observation.time, state.counter),
  })
  const needs = Object.fromEntries(observation.needs.map(({ name, value, max }) => [name, value / max]))
  const last = {
    action: choice.action,
    time: observation.time,
    position: observation.position,
    needs,
    goal: choice.goal,
  }
  return { choice, derivedEvents, after: { state: { ...state, last }, places } }
}

verifies(
  'minds:policy:score',
  'eating at an adjacent stove scores 0.827 / 1.05 = 0.788 at hunger 22',
  async (t) => {
    t.ok(Math.abs(computeUrgency(0.22, policyConstants) - 1.1084) < 1e-9)
    t.ok(Math.abs(computeUrgency(0.47, policyConstants) - 0.2809) < 1e-9)
    const { choice } = runCycle(parseObservation(10))
    t.match(choice.action, {
      action: 'interact_with',
      parameters: { entity_id: 'stove_2', interaction_name: 'eat' },
    })
    t.equal(choice.candidates[0]?.score, 0.7881)
    t.match(choice.candidates[0]?.terms, { gain: 0.8275, cost: 0, distance: 0.9524, freshness: 1 })
  },
)

verifies(
  'minds:policy:score',
  'a stove 21 cells away scores 0.404, and the policy moves to a free cell next to it',
  async (t) => {
    const { choice } = runCycle(parseObservation(10, { entities: [createStove([33, 7])] }))
    t.same(choice.action, { action: 'move_to', parameters: { destination: [32, 7] } })
    t.equal(choice.candidates[0]?.score, 0.4037)
    const taken = { entity_id: 'ben', display_name: 'Ben', position: [32, 7], interactions: {} }
    const around = runCycle(parseObservation(10, { entities: [createStove([33, 7]), taken] }))
    t.same(around.choice.action.parameters, { destination: [33, 6] })
  },
)

verifies('minds:policy:score', 'scores do not depend on the names and scale of needs', async (t) => {
  const renamed = {
    ...observe('mara', 10, {}),
    needs: { needs: { vigour: 2.2, mirth: 9 }, max_value: 10 },
    vision: {
      visible_entities: [
        { ...createStove([13, 7]), interactions: { sip: { name: 'sip', needs_filled: ['vigour'] } } },
      ],
    },
  }
  const { choice } = runCycle(readObservation(renamed, limits).observation)
  t.equal(choice.candidates[0]?.score, 0.7881)
})

t.test(
  'the policy waits if all needs are satisfied, and wanders if the object it needs is out of sight',
  async (t) => {
    const full = { hunger: 100, energy: 100, fun: 100, hygiene: 100, social: 100 }
    t.equal(runCycle(parseObservation(10, { needs: full, entities: [] })).choice.action.action, 'wait')
    t.equal(runCycle(parseObservation(10, { entities: [] })).choice.action.action, 'wander')
  },
)

t.test('the policy moves to remembered places that are not gone', async (t) => {
  const { after } = runCycle(parseObservation(10, { needs: { hunger: 90 } }))
  const away = { status: { position: [40, 7] }, entities: [] }
  t.same(runCycle(parseObservation(20, away), after).choice.action, {
    action: 'move_to',
    parameters: { destination: [14, 7] },
  })
  const empty = runCycle(parseObservation(30, { status: { position: [14, 7] }, entities: [] }), after)
  t.equal(empty.after.places.get('stove_2')?.gone, true)
  t.equal(empty.choice.action.action, 'wander')
})

verifies(
  'minds:policy:refusal',
  'an attempt without effect counts as a refusal and is not repeated for 90 minutes',
  async (t) => {
    const first = runCycle(parseObservation(10))
    t.equal(first.choice.action.action, 'interact_with')
    const second = runCycle(parseObservation(13), first.after)
    t.match(second.derivedEvents, [
      { kind: 'refusal', goal: { entity_id: 'stove_2', interaction_name: 'eat' } },
    ])
    t.not(second.choice.action.action, 'interact_with')
    t.match(
      second.choice.candidates.find(({ target }) => target === 'stove_2'),
      { rejected_because: /refused/ },
    )
    t.not(runCycle(parseObservation(102), second.after).choice.action.action, 'interact_with')
    t.equal(runCycle(parseObservation(103), second.after).choice.action.action, 'interact_with')
  },
)

verifies(
  'minds:policy:refusal',
  'a reported refusal prevents another attempt, unless the reason is the distance',
  async (t) => {
    const createRejection = (reason: string): MindEvent[] => [
      {
        timestamp: 11,
        event_type: 'INTERACTION_BID_REJECTED',
        payload: { entity_id: 'stove_2', interaction_name: 'eat', reason },
      },
    ]
    const first = runCycle(parseObservation(10))
    t.not(
      runCycle(parseObservation(13), first.after, createRejection('it is in use')).choice.action.action,
      'interact_with',
    )
    const near = runCycle(
      parseObservation(13, { status: { position: [10, 7] } }),
      first.after,
      createRejection('too far away'),
    )
    t.match(near.choice.action, { action: 'interact_with' }, 'tries once from here')
  },
)

verifies('minds:policy:refusal', 'a successful attempt is not a refusal', async (t) => {
  const first = runCycle(parseObservation(10))
  const second = runCycle(parseObservation(13, { needs: { hunger: 47 } }), first.after)
  t.same(
    second.derivedEvents.filter(({ kind }) => kind === 'refusal'),
    [],
  )
})

const observeEating = (time: number, needs: object) =>
  parseObservation(time, {
    needs,
    status: {
      current_interaction: { interaction_name: 'eat', entity_id: 'stove_2', needs_filled: ['hunger'] },
      controller_state: { state_name: 'interacting' },
    },
  })

t.test(
  'the policy leaves an interaction when its needs are satisfied or another need is critical',
  async (t) => {
    const begun = runCycle(observeEating(10, { hunger: 30 }))
    t.equal(begun.choice.action.action, 'continue')
    t.equal(runCycle(observeEating(20, { hunger: 60 }), begun.after).choice.action.action, 'continue')
    t.equal(
      runCycle(observeEating(20, { hunger: 96 }), begun.after).choice.action.action,
      'cancel_interaction',
    )
    t.equal(
      runCycle(observeEating(20, { hunger: 60, energy: 10 }), begun.after).choice.action.action,
      'cancel_interaction',
    )
    t.equal(
      runCycle(observeEating(20, { hunger: 45, energy: 10 }), begun.after).choice.action.action,
      'continue',
      'stays because the need of the interaction is low too',
    )
    t.equal(
      runCycle(observeEating(12, { hunger: 60, energy: 10 }), begun.after).choice.action.action,
      'continue',
      'stays because the interaction has just begun',
    )
  },
)

t.test('the minimum stay is shortened only if the needs of the interaction are satisfied', async (t) => {
  const overrides = { ...policyConstants, leave: 2, leave_satisfied: 2 }
  const begun = runCycle(observeEating(10, { hunger: 30 }))
  const at12 = (needs: object) =>
    runCycle(observeEating(12, needs), begun.after, [], overrides).choice.action.action
  t.equal(at12({ hunger: 60, energy: 10 }), 'continue')
  t.equal(at12({ hunger: 96 }), 'cancel_interaction')
})

t.test('moods and goals use the constants of the mind', async (t) => {
  const describeMood = (overrides: Partial<PolicyConstants>) => {
    const constants = { ...policyConstants, ...overrides }
    const facts = {
      observation: parseObservation(10),
      derivedEvents: [],
      candidates: [],
      because: '',
      constants,
    }
    return updateFactualFields(emptyWorkingMemory, facts)
  }
  // Hunger is 22 of 100, and the mean of all needs is 55.4.
  t.equal(describeMood({}).emotional_state, 'worried')
  t.equal(describeMood({ desperate_below: 0.6 }).emotional_state, 'desperate')
  t.equal(describeMood({ critical: 0.2 }).emotional_state, 'calm')
  t.equal(describeMood({ critical: 0.2, content_from: 0.5 }).emotional_state, 'content')
  t.same(describeMood({}).active_goals, ['restore hunger'])
  t.same(describeMood({ goal_below: 0.2 }).active_goals, [])
})

t.test('the policy uses the learned gain of an interaction after three uses', async (t) => {
  let previous = emptyState
  for (let n = 0; n < 3; n++) {
    previous = runCycle(observeEating(100 * n + 10, { hunger: 20 }), previous).after
    previous = runCycle(parseObservation(100 * n + 30, { needs: { hunger: 60 } }), previous).after
  }
  const learned = previous.state.gains['eat|hunger']
  t.equal(learned?.samples, 3)
  t.ok(Math.abs((learned?.mean ?? 0) - 0.4) < 1e-9)
  const { choice } = runCycle(parseObservation(1000), previous)
  const expected = (1.1084 - (1 - 0.62) ** 2) / 1.05
  t.ok(Math.abs((choice.candidates[0]?.score ?? 0) - expected) < 1e-4)
})

t.test('while moving, the policy ignores slightly better candidates', async (t) => {
  const observeWalking = (entities: Data) =>
    parseObservation(12, { entities, status: { controller_state: { state_name: 'moving' } } })
  const first = runCycle(parseObservation(10, { entities: [createStove([25, 7])] }))
  t.equal(first.choice.action.action, 'move_to')
  const both = runCycle(observeWalking([createStove([25, 7]), createStove([23, 7], 'stove_3')]), first.after)
  t.equal(both.choice.action.action, 'continue')
  const better = runCycle(
    observeWalking([createStove([25, 7]), createStove([14, 7], 'stove_3')]),
    first.after,
  )
  t.same(better.choice.action, { action: 'move_to', parameters: { destination: [13, 7] } })
})

verifies('minds:policy:deterministic', 'the policy returns the same bytes for the same input', async (t) => {
  const run = () => {
    let previous = emptyState
    const choices: unknown[] = []
    for (let n = 0; n < 40; n++) {
      const entities = [createStove([13 + (n % 7), 7]), createStove([20, n % 11], 'stove_9')]
      const { choice, after } = runCycle(
        parseObservation(10 + 7 * n, { entities, needs: { hunger: (n * 37) % 100 } }),
        previous,
      )
      choices.push(choice)
      previous = after
    }
    return JSON.stringify([choices, previous.state, [...previous.places]])
  }
  t.equal(run(), run())
})
