/** Builds observations with the field names of the original game. */
import { type Body, type Cell, distance, type Talk } from './body.ts'
import type { Preset } from './preset.ts'
import { ranges, type Town } from './town.ts'

/** Maximum number of utterances in an observation. */
const messageWindow = 5

/** A visible object or body and its interactions. */
export interface VisibleEntity {
  readonly entity_id: string
  readonly display_name: string
  readonly position: Cell
  readonly interactions: Readonly<Record<string, object>>
}

/** An observation and the events since the previous one. */
export interface Perceived {
  readonly observation: {
    readonly entity_id: string
    readonly current_simulation_time: number
    readonly status: Readonly<Record<string, unknown>>
    readonly needs: object
    readonly vision: { readonly visible_entities: readonly VisibleEntity[] }
    readonly conversations: readonly object[]
  }
  readonly events: Body['events']
}

/** Returns a body's observation and events. Removes the events from the body and marks all utterances as observed. */
export function perceive(town: Town, body: Body): Perceived {
  const { events, position, needs } = body
  body.events = []
  const { preset } = town
  const talk = body.engagement?.kind === 'talk' ? body.engagement.talk : undefined
  talk?.observed.set(body.id, talk.utterances.length)
  const rounded = Object.fromEntries(Object.entries(needs).map(([need, value]) => [need, round(value)]))
  return {
    observation: {
      entity_id: body.id,
      current_simulation_time: town.time,
      status: {
        position,
        movement_locked: body.engagement !== undefined,
        current_interaction: describeInteraction(body, preset),
        [preset.hasEvents ? 'activity_state' : 'controller_state']: { state_name: getStateName(body) },
      },
      needs: { needs: rounded, [preset.hasEvents ? 'max_value' : 'max_need_value']: preset.max },
      vision: { visible_entities: findVisibleEntities(town, body) },
      conversations: talk === undefined ? [] : [describeConversation(town, talk)],
    },
    events,
  }
}

function getStateName({ engagement, movement, isWaiting }: Body): string {
  if (engagement !== undefined) return 'interacting'
  return movement?.kind ?? (isWaiting ? 'waiting' : 'idle')
}

function describeInteraction({ engagement }: Body, preset: Preset): object {
  if (engagement === undefined) return {}
  if (engagement.kind === 'talk')
    return {
      interaction_id: engagement.talk.id,
      interaction_name: 'conversation',
      needs_filled: [preset.talkFills],
      act_in_interaction_parameters: { message: { type: 'string', description: 'what you say' } },
    }
  const { id, thing } = engagement
  return {
    interaction_id: id,
    interaction_name: thing.does,
    entity_id: thing.id,
    needs_filled: [thing.fills],
  }
}

/** Returns the objects and bodies in sight. Whether an object is occupied is not visible. */
function findVisibleEntities(town: Town, body: Body): readonly VisibleEntity[] {
  const { preset } = town
  const isInSight = ({ position }: { readonly position: Cell }): boolean =>
    distance(position, body.position) <= ranges.sight
  const things = town.things.filter(isInSight).map((thing): VisibleEntity => {
    const rates = preset.hasRates
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
    .filter((other) => other !== body && isInSight(other))
    .map(({ id, name, position, isScripted }) => ({
      entity_id: id,
      display_name: name,
      position,
      interactions: isScripted ? {} : talks,
    }))
  return [...things, ...others]
}

function describeConversation(town: Town, { id, initiator, participants, utterances }: Talk): object {
  return {
    interaction_id: id,
    interaction_name: 'conversation',
    participants,
    initiator_id: initiator,
    conversation_history: utterances.slice(-messageWindow).map(({ speaker, text, time }) => ({
      speaker_id: speaker,
      speaker_name: town.body(speaker).name,
      message: text,
      ...(town.preset.hasTimes ? { timestamp: time } : {}),
    })),
  }
}

const round = (value: number): number => Math.round(value * 100) / 100
