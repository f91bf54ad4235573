/** The contents of the resource `mind://<id>/state`. */
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

type Cell = readonly [x: number, y: number]

export interface MindAction {
  readonly action: string
  readonly parameters?: Readonly<Record<string, unknown>>
}

export interface MindDecision {
  readonly request_id: string
  readonly current_simulation_time: number
  readonly decided_by: string
  readonly status: string
  readonly action: MindAction | null
  readonly explanation: {
    readonly because?: string
    readonly fallback_reason?: string
    /** Absent in decisions of older versions. */
    readonly observed?: {
      /** Degree of satisfaction by need, 0 to 1. */
      readonly needs: Readonly<Record<string, number>>
      readonly mood: string
      readonly position: Cell | null
    }
    readonly candidates?: readonly MindCandidate[]
    readonly queries?: readonly string[]
    /** Duration of each step in milliseconds, in order. */
    readonly per_step_ms?: Readonly<Record<string, number>>
    readonly recalled?: readonly {
      readonly id: string
      readonly content: string
      readonly score: number
      readonly terms?: Readonly<Record<string, number>>
    }[]
  }
}

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

/** A known place or character, from the route `places`. */
export interface MindPlace {
  readonly entity_id: string
  readonly display_name: string
  /** Cell of the game's grid; `null` if no position is known. */
  readonly position: Cell | null
  readonly interactions: readonly string[]
  readonly last_seen: number
  /** Whether the mind did not find it at its last known position. */
  readonly gone: boolean
}

/** The values of a need over the decisions, oldest first. */
export interface NeedHistory {
  readonly name: string
  /** Degree of satisfaction, 0 to 1. */
  readonly values: readonly number[]
  readonly times: readonly number[]
}

/** Lists the needs that the decisions observed, in the order of the newest decision. `decisions` are newest first. */
export function listNeeds(decisions: readonly MindDecision[]): readonly NeedHistory[] {
  const names = new Set(
    decisions.flatMap(({ explanation }) => Object.keys(explanation.observed?.needs ?? {})),
  )
  return [...names].map((name) => {
    const samples = decisions
      .flatMap(({ current_simulation_time, explanation }) => {
        const value = explanation.observed?.needs[name]
        return value === undefined ? [] : [{ time: current_simulation_time, value }]
      })
      .reverse()
    return { name, values: samples.map(({ value }) => value), times: samples.map(({ time }) => time) }
  })
}

/** Lists changes of mood, newest first. `decisions` are newest first. */
export function listMoods(
  decisions: readonly MindDecision[],
): readonly { readonly mood: string; readonly since: number }[] {
  const samples = decisions.flatMap(({ current_simulation_time, explanation }) => {
    const mood = explanation.observed?.mood ?? ''
    return mood === '' ? [] : [{ mood, since: current_simulation_time }]
  })
  return samples.filter(({ mood }, index) => mood !== samples[index + 1]?.mood)
}

/** A map of the places in a mind's memory, in cells of the game's grid. */
export interface TownMap {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
  readonly places: readonly (MindPlace & { readonly position: Cell })[]
  /** The mind's last observed positions, oldest first. */
  readonly path: readonly Cell[]
}

/** Returns the target cell of an action: the cell that it names, or the known position of the entity that it names. */
export function findGoal(action: MindAction | null, places: readonly MindPlace[]): Cell | undefined {
  const values = Object.values(action?.parameters ?? {})
  const cell = values.find((value): value is Cell => Array.isArray(value) && value.length === 2)
  if (cell?.every((coordinate) => typeof coordinate === 'number')) return cell
  return places.find(({ entity_id }) => values.includes(entity_id))?.position ?? undefined
}

const mapMargin = 2
const maxPathCells = 12

/** Lays out the known positions. Returns `undefined` if none is known. `decisions` are newest first. */
export function layoutTown(
  places: readonly MindPlace[],
  decisions: readonly MindDecision[],
): TownMap | undefined {
  const placesOnMap = places.filter((place): place is TownMap['places'][number] => place.position !== null)
  const path = decisions
    .flatMap(({ explanation }) => (explanation.observed?.position ? [explanation.observed.position] : []))
    .slice(0, maxPathCells)
    .reverse()
  const cells = [...placesOnMap.map(({ position }) => position), ...path]
  if (cells.length === 0) return undefined
  const span = (axis: 0 | 1): readonly [number, number] => {
    const values = cells.map((cell) => cell[axis])
    const low = values.reduce((a, b) => Math.min(a, b)) - mapMargin
    return [low, values.reduce((a, b) => Math.max(a, b)) + mapMargin - low]
  }
  const [[left, width], [top, height]] = [span(0), span(1)]
  return { left, top, width, height, places: placesOnMap, path }
}
