/** Deciders without a mind, to show how hard a town is. */
import type { Action } from './act.ts'
import { type Body, steps } from './body.ts'
import { chanceOf } from './chance.ts'
import type { Perceived } from './observe.ts'
import type { Deciders } from './run.ts'
import { reach } from './town.ts'

/** Anything that the rules allow, each as likely as any other; what is not at hand is walked to. */
export function randomDeciders(seed: number): Deciders {
  const chance = chanceOf(seed ^ 0xba5e)
  return {
    async begin() {},
    async sleep() {},
    async decide(body, perceived) {
      return chance.pick(optionsOf(body, perceived))
    },
  }
}

const act = (action: string, parameters: Action['parameters'] = {}): Action => ({ action, parameters })

function optionsOf(body: Body, { observation }: Perceived): readonly Action[] {
  const replies = [...body.bids.keys()].flatMap((bid_id) => [
    act('respond_to_interaction_bid', { bid_id, accept: true }),
    act('respond_to_interaction_bid', { bid_id, accept: false, reason: 'no' }),
  ])
  if (body.engaged !== undefined) {
    const speech = body.engaged.kind === 'talk' ? [act('act_in_interaction', { message: 'Well.' })] : []
    return [...replies, ...speech, act('continue'), act('cancel_interaction')]
  }
  const uses = observation.vision.visible_entities.flatMap(({ entity_id, position, interactions }) =>
    Object.keys(interactions).map((interaction_name) => {
      const near = interaction_name === 'conversation' ? reach.talk : 1
      return steps(position, body.position) <= near
        ? act('interact_with', { entity_id, interaction_name })
        : act('move_to', { destination: [position[0] - 1, position[1]] })
    }),
  )
  return [
    ...replies,
    ...uses,
    act('wander'),
    act('wait'),
    ...(body.way === undefined ? [] : [act('continue')]),
  ]
}
