/** The frames that every recorder of the benchmark records: boxes that touch the floor with four points each. */
import { mulberry32 } from '../../../fixtures/generate/mulberry32.ts'

export const boxes = 20
export const contacts = 4 * boxes
export const frames = 1000
/** Number of different frames. They are recorded again and again. */
const distinct = 100

export const floor = { id: boxes + 1, is_environment: true, shape: { kind: 'plane' } }

/** Columns of a frame in the order of the data file: name, rows and width. `record.py` and `record.cpp` have the same list. */
const columns = [
  ['position', boxes, 3],
  ['velocity', boxes, 3],
  ['orientation', boxes, 4],
  ['angular_velocity', boxes, 3],
  ['contact_point', contacts, 3],
  ['contact_normal', contacts, 3],
  ['contact_depth', contacts, 1],
  ['contact_tangent1', contacts, 3],
  ['contact_tangent2', contacts, 3],
  ['contact_friction', contacts, 1],
  ['contact_normal_impulse', contacts, 1],
  ['contact_tangent1_impulse', contacts, 1],
  ['contact_tangent2_impulse', contacts, 1],
] as const

type Name = (typeof columns)[number][0]
export type Columns = Readonly<Record<Name, Float64Array>>

/** Columns with the same row for every contact, as on a level floor. The numbers are short, which favours NDJSON. */
const constant: Partial<Record<Name, readonly number[]>> = {
  contact_normal: [0, 0, -1],
  contact_tangent1: [1, 0, 0],
  contact_tangent2: [0, 1, 0],
  contact_friction: [0.5],
}

/** Returns the data file: float64 of all columns of a frame, frame after frame. */
export function createData(): Float64Array {
  const random = mulberry32(1)
  const numbers: number[] = []
  for (let frame = 0; frame < distinct; frame++)
    for (const [name, rows, width] of columns)
      for (let i = 0; i < rows * width; i++) numbers.push(constant[name]?.[i % width] ?? 2 * random() - 1)
  return Float64Array.from(numbers)
}

/** Returns the frames of a data file. */
export function readFrames(data: Float64Array): readonly Columns[] {
  let at = 0
  const take = (count: number): Float64Array => {
    at += count
    return data.subarray(at - count, at)
  }
  return Array.from(
    { length: distinct },
    () => Object.fromEntries(columns.map(([name, rows, width]) => [name, take(rows * width)])) as Columns,
  )
}
