/** What the resource `mind://<id>/state` contains. */
export interface MindState {
  readonly entity_id: string
  readonly traits: readonly string[]
  readonly working_memory: {
    readonly situation_assessment?: string
    readonly active_goals?: readonly string[]
    readonly recent_events?: readonly string[]
    readonly current_plan?: readonly string[]
    readonly emotional_state?: string
  } | null
  readonly daily_memories_count: number
  readonly long_term_memory_count: number
  readonly selector: string
  readonly decisions: number
  readonly current_simulation_time: number | null
}

/** An action with its parameters. */
export interface MindAction {
  readonly action: string
  readonly parameters?: Readonly<Record<string, unknown>>
}

/** A stored decision. */
export interface MindDecision {
  readonly request_id: string
  readonly current_simulation_time: number
  readonly decided_by: string
  readonly status: string
  readonly action: MindAction | null
  readonly explanation: {
    readonly because?: string
    readonly fallback_reason?: string
    readonly candidates?: readonly MindCandidate[]
    readonly queries?: readonly string[]
    readonly recalled?: readonly {
      readonly id: string
      readonly content: string
      readonly score: number
      readonly terms?: Readonly<Record<string, number>>
    }[]
  }
}

/** An action that was considered, with the terms of its score. */
export interface MindCandidate {
  readonly action: MindAction
  readonly target: string | null
  readonly score: number
  readonly terms: Readonly<Record<string, number>>
}

/** Formats an action: `interact_with stove_2 eat`. */
export const formatAction = (action: MindAction | null): string =>
  action === null
    ? 'no action'
    : [action.action, ...Object.values(action.parameters ?? {}).map(String)].join(' ').slice(0, 300)

/** Formats game minutes as day, hours and minutes: `day 2, 08:10`. */
export function formatGameTime(minutes: number): string {
  const day = Math.floor(minutes / 1440)
  const [hour, minute] = [Math.floor((minutes % 1440) / 60), Math.floor(minutes % 60)]
  return `day ${day + 1}, ${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`
}
