import { z } from 'zod'
import type { Observation } from '../observation.ts'
import { computeNeedShare } from '../observation.ts'
import type { PolicyConstants } from './constants.ts'
import type { DerivedEvent } from './perceive.ts'
import type { ExplainedCandidate } from './select.ts'
import { truncate } from './speech.ts'

const textListSchema = z.array(z.string()).readonly()

export const workingMemorySchema = z.looseObject({
  situation_assessment: z.string(),
  active_goals: textListSchema,
  recent_events: textListSchema,
  current_plan: textListSchema,
  emotional_state: z.string(),
})
export type WorkingMemory = Readonly<z.output<typeof workingMemorySchema>>

export const emptyWorkingMemory: WorkingMemory = Object.freeze({
  situation_assessment: '',
  active_goals: [],
  recent_events: [],
  current_plan: [],
  emotional_state: '',
})

export function updateFactualFields(
  previous: WorkingMemory,
  {
    observation,
    derivedEvents,
    candidates,
    because,
    constants,
  }: {
    readonly observation: Observation
    readonly derivedEvents: readonly DerivedEvent[]
    readonly candidates: readonly ExplainedCandidate[]
    readonly because: string
    readonly constants: PolicyConstants
  },
): WorkingMemory {
  const lowestNeed = [...observation.needs].sort((a, b) => computeNeedShare(a) - computeNeedShare(b))[0]
  return {
    ...previous,
    situation_assessment: describeSituation(observation, lowestNeed === undefined ? null : lowestNeed.name),
    active_goals:
      lowestNeed !== undefined && computeNeedShare(lowestNeed) < constants.goal_below
        ? [`restore ${lowestNeed.name}`]
        : [],
    recent_events: [...previous.recent_events, ...derivedEvents.map(describeEvent)].slice(-10),
    current_plan: candidates
      .filter(({ rejected_because }) => rejected_because === undefined)
      .slice(0, 2)
      .map(
        (candidate, index) =>
          `${candidate.action.action}${candidate.target === null ? '' : ` ${candidate.target}`}${index === 0 ? ` (${because})` : ''}`,
      ),
    emotional_state: describeMood(observation, derivedEvents, constants),
  }
}

function describeSituation(
  { position, needs, entities, current }: Observation,
  lowestNeedName: string | null,
): string {
  const positionText = position === null ? '' : `at (${position[0]}, ${position[1]})`
  const activityText = current === null ? '' : `in ${current.name}`
  const need = needs.find(({ name }) => name === lowestNeedName)
  const needText =
    need === undefined ? '' : `lowest need ${need.name} ${Math.round(need.value)} of ${need.max}`
  const names = (entities ?? []).slice(0, 8).map(({ display_name }) => display_name)
  const visibleText = names.length === 0 ? 'nothing in sight' : `in sight: ${names.join(', ')}`
  return [positionText, activityText, needText, visibleText].filter((part) => part !== '').join('; ')
}

function describeMood(
  { needs }: Observation,
  derivedEvents: readonly DerivedEvent[],
  { critical, desperate_below, content_from }: PolicyConstants,
): string {
  if (derivedEvents.some(({ kind }) => kind === 'refusal' || kind === 'error')) return 'frustrated'
  if (needs.length === 0) return 'calm'
  const mean = needs.reduce((sum, need) => sum + computeNeedShare(need), 0) / needs.length
  if (needs.some((need) => computeNeedShare(need) <= critical))
    return mean < desperate_below ? 'desperate' : 'worried'
  if (derivedEvents.some(({ kind }) => kind === 'relieved')) return 'relieved'
  return mean >= content_from ? 'content' : 'calm'
}

function describeEvent(event: DerivedEvent): string {
  switch (event.kind) {
    case 'sighting':
      return `saw ${event.place.display_name}`
    case 'critical':
      return `${event.need} became critical`
    case 'relieved':
      return `${event.need} is no longer critical`
    case 'refusal':
      return `${event.goal.entity_id} refused ${event.goal.interaction_name}${event.reason === null ? '' : `: ${truncate(event.reason, 200)}`}`
    case 'blocked':
      return `the way to ${event.goal.entity_id} was blocked`
    case 'error':
      return `error: ${truncate(event.text, 200)}`
  }
}
