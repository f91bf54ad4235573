/** Working memory that the policy writes: facts in fixed words, nothing made up. */
import type { Observation } from '../observation.ts'
import { shareOf } from '../observation.ts'
import type { PolicyConstants } from './constants.ts'
import type { Happening } from './perceive.ts'
import type { ExplainedCandidate } from './select.ts'
import { cut } from './speech.ts'

/** Working memory: the seed's five members, and whatever else was put there. */
export interface WorkingMemory {
  readonly situation_assessment: string
  readonly active_goals: readonly string[]
  readonly recent_events: readonly string[]
  readonly current_plan: readonly string[]
  readonly emotional_state: string
  readonly [other: string]: unknown
}

/** The working memory of a mind that has not looked yet. */
export const emptyWorkingMemory: WorkingMemory = Object.freeze({
  situation_assessment: '',
  active_goals: [],
  recent_events: [],
  current_plan: [],
  emotional_state: '',
})

/** Fills working memory from facts; members that are not the policy's are kept. */
export function factualMemory(
  before: WorkingMemory,
  {
    observation,
    happenings,
    candidates,
    because,
    constants,
  }: {
    readonly observation: Observation
    readonly happenings: readonly Happening[]
    readonly candidates: readonly ExplainedCandidate[]
    readonly because: string
    readonly constants: PolicyConstants
  },
): WorkingMemory {
  const lowest = [...observation.needs].sort((a, b) => shareOf(a) - shareOf(b))[0]
  return {
    ...before,
    situation_assessment: assess(observation, lowest === undefined ? null : lowest.name),
    active_goals:
      lowest !== undefined && shareOf(lowest) < constants.goal_below ? [`restore ${lowest.name}`] : [],
    recent_events: [...before.recent_events, ...happenings.map(wordsOf)].slice(-10),
    current_plan: candidates
      .filter(({ rejected_because }) => rejected_because === undefined)
      .slice(0, 2)
      .map(
        (one, index) =>
          `${one.action.action}${one.target === null ? '' : ` ${one.target}`}${index === 0 ? ` (${because})` : ''}`,
      ),
    emotional_state: feeling(observation, happenings, constants),
  }
}

function assess({ position, needs, entities, current }: Observation, lowest: string | null): string {
  const where = position === null ? '' : `at (${position[0]}, ${position[1]})`
  const doing = current === null ? '' : `in ${current.name}`
  const need = needs.find(({ name }) => name === lowest)
  const low = need === undefined ? '' : `lowest need ${need.name} ${Math.round(need.value)} of ${need.max}`
  const names = (entities ?? []).slice(0, 8).map(({ display_name }) => display_name)
  const sees = names.length === 0 ? 'nothing in sight' : `in sight: ${names.join(', ')}`
  return [where, doing, low, sees].filter((part) => part !== '').join('; ')
}

/** One of six words, by the mean of the needs and what just happened. */
function feeling(
  { needs }: Observation,
  happenings: readonly Happening[],
  { critical, desperate_below, content_from }: PolicyConstants,
): string {
  if (happenings.some(({ kind }) => kind === 'refusal' || kind === 'error')) return 'frustrated'
  if (needs.length === 0) return 'calm'
  const mean = needs.reduce((sum, need) => sum + shareOf(need), 0) / needs.length
  if (needs.some((need) => shareOf(need) <= critical)) return mean < desperate_below ? 'desperate' : 'worried'
  if (happenings.some(({ kind }) => kind === 'relieved')) return 'relieved'
  return mean >= content_from ? 'content' : 'calm'
}

/** A happening in words. */
function wordsOf(happening: Happening): string {
  switch (happening.kind) {
    case 'sighting':
      return `saw ${happening.place.display_name}`
    case 'critical':
      return `${happening.need} became critical`
    case 'relieved':
      return `${happening.need} is no longer critical`
    case 'refusal':
      return `${happening.goal.entity_id} refused ${happening.goal.interaction_name}${happening.reason === null ? '' : `: ${cut(happening.reason, 200)}`}`
    case 'blocked':
      return `the way to ${happening.goal.entity_id} was blocked`
    case 'error':
      return `error: ${cut(happening.text, 200)}`
  }
}
