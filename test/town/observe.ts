/** What a body perceives, in the words of the original game. */
import { type Body, type Cell, steps, type Talk } from './body.ts'
import type { Preset } from './preset.ts'
import { reach, type Town } from './town.ts'

/** Utterances of a conversation that are repeated. */
const messageWindow = 5

/** Something in sight and what it offers. */
export interface Sight {
  readonly entity_id: string
  readonly display_name: string
  readonly position: Cell
  readonly interactions: Readonly<Record<string, object>>
}

/** An observation with the events since the last one. */
export interface Perceived {
  readonly observation: {
    readonly entity_id: string
    readonly current_simulation_time: number
    readonly status: Readonly<Record<string, unknown>>
    readonly needs: object
    readonly vision: { readonly visible_entities: readonly Sight[] }
    readonly conversations: readonly object[]
  }
  readonly events: Body['events']
}

/** Perceives, and hands over what there was to tell. */
export function perceive(town: Town, body: Body): Perceived {
  const { events, position, needs } = body
  body.events = []
  const { preset } = town
  const talk = body.engaged?.kind === 'talk' ? body.engaged.talk : undefined
  talk?.heard.set(body.id, talk.said.length)
  const rounded = Object.fromEntries(Object.entries(needs).map(([need, value]) => [need, round(value)]))
  return {
    observation: {
      entity_id: body.id,
      current_simulation_time: town.time,
      status: {
        position,
        movement_locked: body.engaged !== undefined,
        current_interaction: currentOf(body, preset),
        [preset.tellsEvents ? 'activity_state' : 'controller_state']: { state_name: stateOf(body) },
      },
      needs: { needs: rounded, [preset.tellsEvents ? 'max_value' : 'max_need_value']: preset.max },
      vision: { visible_entities: sightsOf(town, body) },
      conversations: talk === undefined ? [] : [conversationOf(town, talk)],
    },
    events,
  }
}

function stateOf({ engaged, way, isWaiting }: Body): string {
  if (engaged !== undefined) return 'interacting'
  return way?.kind ?? (isWaiting ? 'waiting' : 'idle')
}

function currentOf({ engaged }: Body, preset: Preset): object {
  if (engaged === undefined) return {}
  if (engaged.kind === 'talk')
    return {
      interaction_id: engaged.talk.id,
      interaction_name: 'conversation',
      needs_filled: [preset.talkFills],
      act_in_interaction_parameters: { message: { type: 'string', description: 'what you say' } },
    }
  const { id, thing } = engaged
  return {
    interaction_id: id,
    interaction_name: thing.does,
    entity_id: thing.id,
    needs_filled: [thing.fills],
  }
}

/** What is in sight; whether it is taken does not show. */
export function sightsOf(town: Town, body: Body): readonly Sight[] {
  const { preset } = town
  const isNear = ({ position }: { readonly position: Cell }): boolean =>
    steps(position, body.position) <= reach.sight
  const things = town.things.filter(isNear).map((thing): Sight => {
    const rates = preset.tellsRates
      ? { need_rates: { [thing.fills]: thing.rate }, duration_minutes: thing.minutes }
      : {}
    const offer = { name: thing.does, needs_filled: [thing.fills], needs_drained: [], ...rates }
    return {
      entity_id: thing.id,
      display_name: thing.name,
      position: thing.position,
      interactions: { [thing.does]: offer },
    }
  })
  const talks = {
    conversation: { name: 'conversation', needs_filled: [preset.talkFills], needs_drained: [] },
  }
  const others = town.bodies
    .filter((one) => one !== body && isNear(one))
    .map(({ id, name, position, isScripted }) => ({
      entity_id: id,
      display_name: name,
      position,
      interactions: isScripted ? {} : talks,
    }))
  return [...things, ...others]
}

function conversationOf(town: Town, { id, initiator, participants, said }: Talk): object {
  return {
    interaction_id: id,
    interaction_name: 'conversation',
    participants,
    initiator_id: initiator,
    conversation_history: said.slice(-messageWindow).map(({ speaker, text, time }) => ({
      speaker_id: speaker,
      speaker_name: town.body(speaker).name,
      message: text,
      ...(town.preset.hasTimes ? { timestamp: time } : {}),
    })),
  }
}

const round = (value: number): number => Math.round(value * 100) / 100
