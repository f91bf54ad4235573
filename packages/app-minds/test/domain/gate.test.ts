import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { readCell } from '../../src/domain/cell.ts'
import { createSafeAction, type Proposal, validateAction } from '../../src/domain/gate.ts'
import { assessSituation } from '../../src/domain/menu.ts'
import type { Observation, PendingBid } from '../../src/domain/observation.ts'
import { limitsSchema } from '../../src/limits.ts'
import { readObservation } from '../../src/wire/read-observation.ts'
import { type Data, observe } from '../minds-kit.ts'

const limits = limitsSchema.parse({})
const parseObservation = (change: Data = {}): Observation =>
  readObservation(observe('mara', 10, change), limits).observation
const createBid = (bid_id: string): PendingBid => ({
  bid_id,
  bidder_id: `of_${bid_id}`,
  bidder_name: 'Ben',
  interaction_name: 'conversation',
  received_at: 10,
})
const talkingChange = {
  status: {
    current_interaction: { interaction_id: 't', interaction_name: 'conversation' },
    controller_state: { state_name: 'interacting' },
  },
}
const lockedChange = { status: { movement_locked: true } }
const transitionChange = { status: { current_interaction: { interaction_name: 'eat' } } }
const movingChange = { status: { controller_state: { state_name: 'moving' } } }

/** Returns the accepted action, or `null`. */
const findAcceptedAction = (proposal: Proposal, change: Data = {}, bids: readonly PendingBid[] = []) => {
  const validation = validateAction(proposal, assessSituation(parseObservation(change), bids))
  return 'action' in validation ? validation.action : null
}

verifies('minds:gate', 'each action is accepted only if it is possible', async (t) => {
  const eat = { action: 'interact_with', parameters: { entity_id: 'stove_2', interaction_name: 'eat' } }
  const legal: [string, Proposal, Data?, PendingBid[]?][] = [
    ['move to a cell', { action: 'move_to', parameters: { destination: [0, 0] } }],
    ['move to a zone', { action: 'move_to', parameters: { zone_id: 'market' } }],
    ['use a visible entity', eat],
    ['wander', { action: 'wander' }],
    ['wait', { action: 'wait', parameters: { duration: 5 } }],
    ['continue moving', { action: 'continue' }, movingChange],
    ['continue talking', { action: 'continue' }, talkingChange],
    ['say something', { action: 'act_in_interaction', parameters: { message: 'hi' } }, talkingChange],
    ['leave', { action: 'cancel_interaction' }, talkingChange],
    ['wait while an interaction ends', { action: 'wait' }, lockedChange],
    [
      'accept',
      { action: 'respond_to_interaction_bid', parameters: { bid_id: 'a', accept: true } },
      {},
      [createBid('a')],
    ],
    [
      'reject',
      { action: 'respond_to_interaction_bid', parameters: { bid_id: 'a', accept: false, reason: 'no' } },
      {},
      [createBid('a')],
    ],
    [
      'reject all',
      { action: 'batch_reject_interaction_bids', parameters: { ids: '*', reason: 'no' } },
      {},
      [createBid('a'), createBid('b')],
    ],
    [
      'reject some',
      { action: 'batch_reject_interaction_bids', parameters: { ids: ['a', 'of_b'], reason: 'no' } },
      {},
      [createBid('a'), createBid('b')],
    ],
    ['mark a zone', { action: 'mark_zone', parameters: { radius: 3, name: 'home', kind: 'rest' } }],
    ['go in a direction', { action: 'move_direction', parameters: { direction: 'north' } }],
  ]
  for (const [name, proposal, change, bids] of legal) t.ok(findAcceptedAction(proposal, change, bids), name)
  const illegal: [string, Proposal, Data?, PendingBid[]?][] = [
    ['unknown action', { action: 'fly' }],
    ['no name', { action: null }],
    ['move without a destination', { action: 'move_to', parameters: {} }],
    ['move to null', { action: 'move_to', parameters: { destination: null } }],
    ['move to two places', { action: 'move_to', parameters: { destination: [1, 1], zone_id: 'x' } }],
    ['move while locked', { action: 'move_to', parameters: { destination: [1, 1] } }, lockedChange],
    ['move while talking', { action: 'move_to', parameters: { destination: [1, 1] } }, talkingChange],
    [
      'an unknown entity',
      { action: 'interact_with', parameters: { entity_id: 'dragon', interaction_name: 'eat' } },
    ],
    [
      'an unknown interaction',
      { action: 'interact_with', parameters: { entity_id: 'stove_2', interaction_name: 'sing' } },
    ],
    ['use while talking', eat, talkingChange],
    ['use while an interaction ends', eat, lockedChange],
    ['wait while talking', { action: 'wait' }, talkingChange],
    ['wander while locked', { action: 'wander' }, lockedChange],
    ['speak without an interaction', { action: 'act_in_interaction', parameters: { message: 'hi' } }],
    [
      'speak before it is confirmed',
      { action: 'act_in_interaction', parameters: { message: 'hi' } },
      transitionChange,
    ],
    ['speak an empty message', { action: 'act_in_interaction', parameters: { message: '' } }, talkingChange],
    ['leave without an interaction', { action: 'cancel_interaction' }],
    ['continue without an activity', { action: 'continue' }],
    [
      'answer without a bid',
      { action: 'respond_to_interaction_bid', parameters: { bid_id: 'a', accept: true } },
    ],
    [
      'answer another',
      { action: 'respond_to_interaction_bid', parameters: { bid_id: 'b', accept: true } },
      {},
      [createBid('a')],
    ],
    [
      'reject without a reason',
      { action: 'respond_to_interaction_bid', parameters: { bid_id: 'a', accept: false } },
      {},
      [createBid('a')],
    ],
    [
      'reject all of one',
      { action: 'batch_reject_interaction_bids', parameters: { ids: '*', reason: 'no' } },
      {},
      [createBid('a')],
    ],
    [
      'reject an unknown one',
      { action: 'batch_reject_interaction_bids', parameters: { ids: ['z'], reason: 'no' } },
      {},
      [createBid('a'), createBid('b')],
    ],
    [
      'a zone of two kinds',
      { action: 'mark_zone', parameters: { radius: 3, cells: [], name: 'home', kind: 'rest' } },
    ],
  ]
  for (const [name, proposal, change, bids] of illegal)
    t.equal(findAcceptedAction(proposal, change, bids), null, name)
})

verifies('minds:gate', 'unambiguous misspellings are corrected', async (t) => {
  const eat = { action: 'interact_with', parameters: { entity_id: 'stove_2', interaction_name: 'eat' } }
  t.same(
    findAcceptedAction({
      action: 'INTERACT_WITH',
      parameters: { entity_name: 'Stove', interaction_name: 'EAT' },
    }),
    eat,
  )
  t.same(findAcceptedAction({ action: 'interact_with', parameters: { entity_id: 'stove_2' } }), eat)
  const numbered = assessSituation(parseObservation(), [])
  const entities = (numbered.observation.entities ?? []).map((one) => ({ ...one, entity_id: '7' }))
  t.same(
    validateAction(
      { action: 'interact_with', parameters: { entity_id: 7 } },
      { ...numbered, observation: { ...numbered.observation, entities } },
    ),
    { action: { action: 'interact_with', parameters: { entity_id: '7', interaction_name: 'eat' } } },
  )
  const cell = { action: 'move_to', parameters: { destination: [3, 4] } }
  for (const destination of [[3, 4], { x: 3, y: 4 }, '(3, 4)', '[3,4]', { x: 3.0, y: 4.2 }])
    t.same(findAcceptedAction({ action: 'move_to', parameters: { destination } }), cell)
  t.same(findAcceptedAction({ action: 'move_to', parameters: { x: 3, y: 4 } }), cell)
})

verifies('minds:gate', 'a problem lists the valid values', async (t) => {
  const validation = validateAction(
    { action: 'interact_with', parameters: { entity_id: 'dragon' } },
    assessSituation(parseObservation(), []),
  )
  t.same(validation, { problems: ['no entity "dragon" is in sight; in sight are stove_2'] })
  const closed = validateAction({ action: 'wait' }, assessSituation(parseObservation(talkingChange), []))
  t.match(closed, {
    problems: [/an interaction is in progress.*act_in_interaction, continue, cancel_interaction/],
  })
})

t.test('createSafeAction returns a legal action in five situations', async (t) => {
  for (const change of [{}, talkingChange, lockedChange, transitionChange, movingChange]) {
    const situation = assessSituation(parseObservation(change), [])
    t.ok('action' in validateAction(createSafeAction(situation), situation))
    t.ok(situation.menu.length > 0)
  }
})

verifies('minds:spellings', async (t) => {
  const odd = readObservation(
    {
      entity_id: 'mara',
      current_simulation_time: 10.7,
      status: { position: '(3, 4)', activity_state: { state_name: 'MOVING' }, current_interaction: {} },
      needs: { needs: { hunger: 12, fun: -1, luck: 'much' }, max_need_value: 10 },
      vision: {
        visible_entities: [{ name: 'oak', cell: { x: 1, y: 2 }, interactions: {} }, { name: 'oak' }, {}],
      },
      weather: 'rain',
    },
    limits,
  )
  t.match(odd.observation, {
    time: 10,
    position: [3, 4],
    activity: 'moving',
    needs: [
      { name: 'hunger', value: 10, max: 10 },
      { name: 'fun', value: 0 },
    ],
    entities: [{ entity_id: 'oak', display_name: 'oak', position: [1, 2] }],
  })
  t.equal(odd.warnings.length, 5, odd.warnings.join('; '))
  t.same(odd.unknownFields, ['weather'])
  const bare = readObservation({ entity_id: 'a', current_simulation_time: 0 }, limits).observation
  t.match(bare, { position: null, needs: [], entities: null, conversations: [], current: null })
  t.same(
    readObservation({ entity_id: 'a', current_simulation_time: 0, vision: {} }, limits).observation.entities,
    [],
  )
  const state = { controller_state: { state_enum: 'INTERACTING', context_data: {} } }
  t.equal(
    readObservation({ entity_id: 'a', current_simulation_time: 0, status: state }, limits).observation
      .activity,
    'interacting',
  )
})

verifies('minds:errors', 'an invalid observation is reported by path and problem', async (t) => {
  t.throws(() => readObservation({ current_simulation_time: 'noon' }, limits), {
    code: 'INVALID_OBSERVATION',
    message: /^Invalid observation format: entity_id: .*; current_simulation_time: /,
  })
})

t.test('readCell parses several spellings and rejects other texts, even long ones', async (t) => {
  for (const text of ['3,4', ' (3, 4) ', '[ 3.2 ,4.1]', 'Vector2(3, 4)', 'Vector2i ( 3 , 4 )', 'Vector2 3,4'])
    t.same(readCell(text), [3, 4], text)
  for (const text of ['', '3', '3,4,5', '3,x', 'Vector3(3, 4)']) t.equal(readCell(text), null, text)
  const blanks = ' '.repeat(100_000)
  for (const text of [
    `${blanks}x`,
    `(${blanks}0${blanks},2${blanks}x`,
    `Vector2${blanks}x`,
    `1${'0'.repeat(100_000)}`,
  ])
    t.equal(readCell(text), null)
})
