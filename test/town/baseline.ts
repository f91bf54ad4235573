/** Random decisions: a baseline that measures the difficulty of a town. */
import type { Action } from './act.ts'
import { type Body, distance } from './body.ts'
import type { Perceived } from './observe.ts'
import { createRandomSource } from './random-source.ts'
import type { Deciders } from './run.ts'
import { ranges } from './town.ts'

/** Picks each legal action with equal probability. An interaction that is out of range becomes a `move_to`. */
export function createRandomDeciders(seed: number): Deciders {
  const random = createRandomSource(seed ^ 0xba5e)
  return {
    async begin() {},
    async sleep() {},
    async decide(body, perceived) {
      return random.pick(listActions(body, perceived))
    },
  }
}

const act = (action: string, parameters: Action['parameters'] = {}): Action => ({ action, parameters })

function listActions(body: Body, { observation }: Perceived): readonly Action[] {
  const replies = [...body.bids.keys()].flatMap((bid_id) => [
    act('respond_to_interaction_bid', { bid_id, accept: true }),
    act('respond_to_interaction_bid', { bid_id, accept: false, reason: 'no' }),
  ])
  if (body.engagement !== undefined) {
    const speech = body.engagement.kind === 'talk' ? [act('act_in_interaction', { message: 'Well.' })] : []
    return [...replies, ...speech, act('continue'), act('cancel_interaction')]
  }
  const uses = observation.vision.visible_entities.flatMap(({ entity_id, position, interactions }) =>
    Object.keys(interactions).map((interaction_name) => {
      const range = interaction_name === 'conversation' ? ranges.talk : 1
      return distance(position, body.position) <= range
        ? act('interact_with', { entity_id, interaction_name })
        : act('move_to', { destination: [position[0] - 1, position[1]] })
    }),
  )
  return [
    ...replies,
    ...uses,
    act('wander'),
    act('wait'),
    ...(body.movement === undefined ? [] : [act('continue')]),
  ]
}
