import {
  findGoal,
  formatGameTime,
  layoutTown,
  type MindDecision,
  type MindPlace,
  type TownMap,
} from '../../domain/minds.ts'
import { formatCount, truncateText } from '../../domain/text.ts'
import { ForeignText } from '../../ui/foreign-text.tsx'
import './world.css'

/** Maximum number of names on the map. */
const maxNames = 30
const maxRows = 100
/** Age in game minutes at which a place gets its minimum opacity. */
const fadeMinutes = 1440

interface TownViewProps {
  readonly mind: string
  /** Most recently seen first. */
  readonly places: readonly MindPlace[]
  /** Newest first. */
  readonly decisions: readonly MindDecision[]
  /** The selected decision; the newest by default. */
  readonly chosenId: string | undefined
}

export function TownView({ mind, places, decisions, chosenId }: TownViewProps) {
  if (places.length === 0) return null
  const at = Math.max(
    0,
    decisions.findIndex(({ request_id }) => request_id === chosenId),
  )
  const decision = decisions[at]
  const map = layoutTown(places, decisions.slice(at))
  const now = decision?.current_simulation_time ?? places[0]?.last_seen ?? 0
  return (
    <section class="stack" aria-labelledby="places-title">
      <h2 id="places-title">Known places</h2>
      <div class="split">
        {map === undefined ? (
          <p class="muted">No positions are known.</p>
        ) : (
          <Grid mind={mind} map={map} now={now} goal={findGoal(decision?.action ?? null, places)} />
        )}
        <PlaceTable places={places} />
      </div>
    </section>
  )
}

interface MapProps {
  readonly mind: string
  readonly map: TownMap
  readonly now: number
  readonly goal: readonly [number, number] | undefined
}

/** The known positions on the game's grid, where y increases downwards. */
function Grid({ mind, map, now, goal }: MapProps) {
  const { left, top, width, height, places, path } = map
  const scale = Math.max(width, height) / 40
  const currentCell = path.at(-1)
  const namedPlaces = new Set(places.slice(0, maxNames).map(({ entity_id }) => entity_id))
  return (
    <svg
      class="town-map card"
      viewBox={`${left} ${top} ${width} ${height}`}
      role="img"
      aria-label={`Map of ${formatCount(places.length)} known ${places.length === 1 ? 'place' : 'places'}; the table lists them`}
    >
      {path.length > 1 && (
        <polyline class="town-path" points={path.map((cell) => cell.join(',')).join(' ')} />
      )}
      {currentCell !== undefined && goal !== undefined && (
        <line class="town-goal" x1={currentCell[0]} y1={currentCell[1]} x2={goal[0]} y2={goal[1]} />
      )}
      {places.map(({ entity_id, display_name, position: [x, y], last_seen, gone }) => (
        <g key={entity_id} opacity={Math.max(0.4, 1 - Math.max(0, now - last_seen) / fadeMinutes)}>
          <rect
            class={gone ? 'town-place gone' : 'town-place'}
            x={x - scale / 2}
            y={y - scale / 2}
            width={scale}
            height={scale}
          />
          {namedPlaces.has(entity_id) && (
            <text x={x + scale} y={y + scale / 2} font-size={scale * 1.2}>
              {truncateText(display_name, 20)}
            </text>
          )}
        </g>
      ))}
      {currentCell !== undefined && (
        <g>
          <circle class="town-own" cx={currentCell[0]} cy={currentCell[1]} r={scale * 0.7} />
          <text class="town-own-name" x={currentCell[0]} y={currentCell[1] - scale} font-size={scale * 1.2}>
            {truncateText(mind, 20)}
          </text>
        </g>
      )}
    </svg>
  )
}

const PlaceTable = ({ places }: { places: readonly MindPlace[] }) => (
  <div class="card scroll town-places">
    <table>
      <caption class="visually-hidden">Known places and characters</caption>
      <thead>
        <tr>
          <th>Place or character</th>
          <th>Cell</th>
          <th>Offers</th>
          <th>Last seen</th>
        </tr>
      </thead>
      <tbody>
        {places
          .slice(0, maxRows)
          .map(({ entity_id, display_name, position, interactions, last_seen, gone }) => (
            <tr key={entity_id}>
              <td class="long-line">
                <ForeignText text={display_name} max={80} />
                {gone && <span class="muted"> not there any more</span>}
              </td>
              <td class="number">{position === null ? '–' : position.join(', ')}</td>
              <td class="muted long-line">
                <ForeignText text={interactions.join(', ')} max={120} />
              </td>
              <td class="muted">{formatGameTime(last_seen)}</td>
            </tr>
          ))}
      </tbody>
    </table>
  </div>
)
