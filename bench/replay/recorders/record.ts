/** Records the frames in JavaScript: `record.ts contacts|columns|ndjson <data> <file>`. Prints µs of processor time. */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { Recorder } from '../../../recorders/js/recorder.js'
import { boxes, type Columns, contacts, floor, frames, readFrames } from './frames.ts'

const dt = 0.01
const chunkLength = 256 * 1024

const [, , mode, data = '', path = ''] = process.argv
const bodies = [...Array.from({ length: boxes }, (_, i) => ({ id: i + 1, mass: 1 })), floor]
const run = { dt, gravity: [0, 0, -9.81], lambda_unit: 'N·s' as const, bodies }
const given = readFrames(new Float64Array(Uint8Array.from(readFileSync(data)).buffer))
const [contactA, contactB] = [
  Array.from({ length: contacts }, (_, i) => Math.floor(i / 4) + 1),
  Array(contacts).fill(floor.id),
]

const row = (column: Float64Array, at: number, width = 3) => [
  ...column.subarray(at * width, (at + 1) * width),
]

const toContact = (frame: Columns, i: number) => ({
  a: contactA[i],
  b: floor.id,
  point: row(frame.contact_point, i),
  normal: row(frame.contact_normal, i),
  depth: frame.contact_depth[i],
  tangent1: row(frame.contact_tangent1, i),
  tangent2: row(frame.contact_tangent2, i),
  friction: frame.contact_friction[i],
  normal_impulse: frame.contact_normal_impulse[i],
  tangent1_impulse: frame.contact_tangent1_impulse[i],
  tangent2_impulse: frame.contact_tangent2_impulse[i],
})

const toState = (frame: Columns, i: number) => ({
  position: row(frame.position, i),
  velocity: row(frame.velocity, i),
  orientation: row(frame.orientation, i, 4),
  angular_velocity: row(frame.angular_velocity, i),
})

/** Returns a frame in the form of Replay's NDJSON: a row per body, and per pair a list of points. */
function toLine(frame: Columns) {
  const states = Array.from({ length: boxes }, (_, i) => ({ id: i + 1, ...toState(frame, i) }))
  const pairs = states.map(({ id: a }, i) => ({
    a,
    b: floor.id,
    normal: row(frame.contact_normal, 4 * i),
    points: [0, 1, 2, 3].map((k) => {
      const { point, depth, tangent1, tangent2, ...rest } = toContact(frame, 4 * i + k)
      return {
        ...{ point, depth, tangent1, tangent2, friction_coefficient: rest.friction },
        ...{ normal_lambda: rest.normal_impulse, tangent1_lambda: rest.tangent1_impulse },
        tangent2_lambda: rest.tangent2_impulse,
      }
    }),
  }))
  return { bodies: states, contacts: pairs }
}

function toRows(frame: Columns) {
  const states = Array.from({ length: boxes }, (_, i) => toState(frame, i))
  return {
    position: states.map(({ position }) => position),
    velocity: states.map(({ velocity }) => velocity),
    orientation: states.map(({ orientation }) => orientation),
    angular_velocity: states.map(({ angular_velocity }) => angular_velocity),
    contacts: Array.from({ length: contacts }, (_, i) => toContact(frame, i)),
  }
}

/** Calls `write` with every frame, then `end`. Returns µs of processor time. */
function measure<Frame>(list: readonly Frame[], write: (frame: Frame, id: number) => void, end: () => void) {
  const before = process.cpuUsage()
  for (let id = 1; id <= frames; id++) write(list[id % list.length] as Frame, id)
  end()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

const file = openSync(path, 'w')

function measureLines(): number {
  let text = `${JSON.stringify({ run })}\n`
  const flush = () => {
    writeSync(file, text)
    text = ''
  }
  const write = (frame: object, id: number) => {
    text += `${JSON.stringify({ frame_id: id, time: id * dt, ...frame })}\n`
    if (text.length >= chunkLength) flush()
  }
  return measure(given.map(toLine), write, flush)
}

function measureRecorder(list: readonly object[]): number {
  const recorder = new Recorder((bytes) => writeSync(file, bytes), run)
  return measure(
    list,
    (frame) => recorder.frame(frame),
    () => recorder.close(),
  )
}

const ids = { contacts_known: true, contact_a: contactA, contact_b: contactB }
const micros =
  mode === 'ndjson'
    ? measureLines()
    : measureRecorder(mode === 'columns' ? given.map((frame) => ({ ...frame, ...ids })) : given.map(toRows))
closeSync(file)
process.stdout.write(String(micros))
