import type { Series } from '../data/replay.ts'

const energyColumns = [
  ['total_system_e', 'total'],
  ['total_e', 'total'],
  ['total_linear_ke', 'linear'],
  ['linear_ke', 'linear'],
  ['total_rotational_ke', 'rotational'],
  ['rotational_ke', 'rotational'],
  ['total_potential_e', 'potential'],
  ['potential_e', 'potential'],
] as const

type Row = Readonly<Record<string, unknown>>

/** Returns the quantities in a tool's result, from series or rows of energies; `undefined` if it has neither. */
export function readSeries({ series, energy_points: rows }: Row): readonly Series[] | undefined {
  if (Array.isArray(series)) return series as readonly Series[]
  if (!Array.isArray(rows)) return undefined
  const points = rows as readonly Row[]
  const frames = points.map(({ frame_id }) => Number(frame_id))
  return energyColumns
    .filter(([column]) => points.some((point) => column in point))
    .map(([column, name]) => ({
      name,
      unit: 'J',
      frames,
      values: points.map((point) => toNumber(point[column])),
    }))
}

const toNumber = (value: unknown): number | null => (typeof value === 'number' ? value : null)

/** Returns the value at a frame, or at the last frame before it in the series. */
export function findValue({ frames, values }: Series, frame: number): number | undefined {
  const index = frames.findLastIndex((id) => id <= frame)
  return values[index] ?? undefined
}
