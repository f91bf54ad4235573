/** Creates scenes in closed form to test single laws, without a recording. */
import {
  type BodyGeometry,
  collisionAt,
  constraintAt,
  energyAt,
  externalAt,
  type FrameWindow,
  frictionAt,
  jointAt,
  solverAt,
  stateAt,
  systemAt,
} from '@causeway/recording'
import ndarray from 'ndarray'
import type { Finding } from '../../src/domain/findings/finding.ts'
import type { Law } from '../../src/domain/laws/law.ts'
import { exactRounding, RoundingMeter } from '../../src/domain/steps/rounding.ts'
import { readSurfaceVelocities, type Scene } from '../../src/domain/steps/scene.ts'
import { Stepper } from '../../src/domain/steps/stepper.ts'
import type { Point3 } from '../../src/domain/vector.ts'

type Vec = readonly [number, number, number]

/** Id of the floor. The bodies are 1, 2, …, in the order of the columns. */
export const floor = 0x8000_0063

/** Gravity in m/s² and step in s. */
export const [g, dt] = [9.81, 0.01]

/** State of a body in a frame. Default: 0, without rotation. */
export interface SceneBody {
  readonly position?: Vec
  readonly velocity?: Vec
  readonly orientation?: readonly [number, number, number, number]
  readonly spin?: Vec
  /** Rotational energy in J. */
  readonly rotational?: number
}

/** A contact point of a pair, with the impulses of the step in N·s. */
export interface SceneContact {
  readonly a?: number
  readonly b?: number
  readonly normal?: Vec
  /** Lever arm from the centre of a, in m. Default: 0.5 m down. */
  readonly lever?: Vec
  readonly depth?: number
  readonly restitution?: number
  readonly closing?: number
  readonly n?: number
  readonly t1?: number
  readonly t2?: number
  readonly mu?: number
  /** Whether the contact has no constraint rows and no impulses. */
  readonly isPlain?: boolean
}

/** Frames 1 to `frames` of bodies whose masses are in kg. */
export interface SceneSpec {
  readonly frames: number
  readonly masses: readonly number[]
  readonly extents?: readonly (Point3 | undefined)[]
  readonly inertias?: readonly (Point3 | undefined)[]
  readonly geometry?: readonly BodyGeometry[]
  readonly gravity?: Vec
  /** Whether to measure the rounding of the numbers. By default, they are exact. */
  readonly isRounded?: boolean
  /** Whether contacts were recorded. Default: true. */
  readonly hasContacts?: boolean
  /** Returns the frame id of a row. Rows start at 0. */
  readonly id?: (row: number) => number
  readonly time?: (frame: number) => number
  readonly state: (frame: number, body: number) => SceneBody
  readonly touches?: (frame: number) => readonly SceneContact[]
  readonly stalled?: (frame: number) => boolean
  /** Recorded linear energy in J. Default: computed from the velocity. */
  readonly linear?: (frame: number) => number
}

/** Returns the findings of a law in a scene. */
export function runLaw(law: Law, spec: SceneSpec): readonly Finding[] {
  const exactScene = createScene(spec)
  const window = createWindow(spec, exactScene)
  const meter = new RoundingMeter()
  if (spec.isRounded) meter.add(window)
  const scene = { ...exactScene, rounding: spec.isRounded ? meter.measure(dt) : exactRounding }
  const stepper = new Stepper(scene)
  for (let row = 0; row < spec.frames; row++) law.observe(stepper.moveTo(window, row))
  return law.findings()
}

export const createFrames = (spec: SceneSpec): FrameWindow => createWindow(spec, createScene(spec))

function createScene(spec: SceneSpec): Scene {
  const { masses, extents, inertias, geometry = [], gravity = [0, 0, -g], hasContacts = true } = spec
  const bodies = masses.map((_, column) => column + 1)
  return {
    bodies,
    masses: Float64Array.from(masses, (mass) => mass || Number.NaN),
    masslessColumns: new Set(masses.flatMap((mass, column) => (mass === 0 ? [column] : []))),
    extents: extents ?? bodies.map(() => undefined),
    geometry: new Map(geometry.map((one) => [one.body_id, one])),
    environment: [floor],
    inertias: inertias ?? bodies.map(() => undefined),
    columnById: new Map(bodies.map((id, column) => [id, column])),
    gravity,
    g: Math.hypot(...gravity),
    dt,
    rounding: exactRounding,
    massErrors: new Float64Array(bodies.length),
    inertiaErrors: new Float64Array(bodies.length),
    lambdaUnit: 'N·s',
    flaggedBodies: new Set([floor]),
    hasContacts,
    hasImpulses: true,
    groups: [],
    ignoredPairs: new Set(),
    surfaceVelocities: readSurfaceVelocities(geometry),
    groupByColumn: new Int32Array(bodies.length).fill(-1),
    hasSubsteps: false,
  }
}

function createWindow(spec: SceneSpec, { bodies, masses, gravity }: Scene): FrameWindow {
  const { frames: count, state, touches = () => [], id = (row: number) => row + 1 } = spec
  const ids = Array.from({ length: count }, (_, row) => id(row))
  const states = new Float64Array(count * bodies.length * stateAt.width)
  const energies = new Float64Array(count * bodies.length * energyAt.width)
  const system = new Float64Array(count * systemAt.width)
  const solver = new Float64Array(count * solverAt.width)
  const flat = { collisions: [] as number[], constraints: [] as number[], friction: [] as number[] }
  const offset = new Uint32Array(count + 1)
  const plainOffset = new Uint32Array(count + 1)
  for (const [row, frame] of ids.entries()) {
    for (const [column, body] of bodies.entries()) {
      const {
        position = [0, 0, 0],
        velocity = [0, 0, 0],
        orientation = [1, 0, 0, 0],
        spin = [0, 0, 0],
        rotational = 0,
      } = state(frame, body)
      const at = row * bodies.length + column
      states.set([...position, ...velocity, ...orientation, ...spin], at * stateAt.width)
      const mass = masses[column] ?? 0
      const linear = spec.linear?.(frame) ?? 0.5 * mass * velocity.reduce((sum, v) => sum + v * v, 0)
      const potential = -mass * gravity.reduce((sum, part, i) => sum + part * (position[i] ?? 0), 0)
      const total = linear + rotational + potential
      energies.set([linear, rotational, potential, total], at * energyAt.width)
      const systemTotal = row * systemAt.width + systemAt.total
      system[systemTotal] = (system[systemTotal] ?? 0) + total
    }
    const found = touches(frame)
    for (const { a = 1, b = floor, normal = [0, 0, -1], depth = 0, ...touch } of found) {
      const {
        isPlain = false,
        lever = [0, 0, -0.5],
        restitution = 0,
        closing = 0,
        n = 0,
        t1 = 0,
        t2 = 0,
        mu = 0.5,
      } = touch
      const levers = [...lever, 0, 0, 0]
      flat.collisions.push(a, b, ...normal, depth)
      if (isPlain) continue
      flat.constraints.push(a, b, ...normal, ...levers, depth, restitution, closing)
      flat.friction.push(a, b, ...normal, 1, 0, 0, 0, 1, 0, ...levers, mu, n, t1, t2)
    }
    offset[row + 1] = (offset[row] ?? 0) + found.length
    plainOffset[row + 1] = (plainOffset[row] ?? 0) + found.filter(({ isPlain }) => isPlain !== true).length
    const isStalled = spec.stalled?.(frame) === true
    solver.set(
      [10, isStalled ? 1 : 1e-9, isStalled ? 0 : 1, found.length, found.length],
      row * solverAt.width,
    )
  }
  const rows = (data: readonly number[], width: number, offsets = plainOffset) => ({
    offset: data.length === 0 ? new Uint32Array(count + 1) : offsets,
    data: ndarray(Float64Array.from(data), [data.length / width, width]),
  })
  return {
    from: 0,
    to: count,
    frames: Float64Array.from(ids),
    times: Float64Array.from(ids, (frame) => spec.time?.(frame) ?? frame * dt),
    bodies,
    present: new Uint8Array(count * bodies.length).fill(1),
    states: ndarray(states, [count, bodies.length, stateAt.width]),
    energies: ndarray(energies, [count, bodies.length, energyAt.width]),
    system: ndarray(system, [count, systemAt.width]),
    solver: ndarray(solver, [count, solverAt.width]),
    collisions: rows(flat.collisions, collisionAt.width, offset),
    constraints: rows(flat.constraints, constraintAt.width),
    friction: rows(flat.friction, frictionAt.width),
    externals: rows([], externalAt.width),
    joints: rows([], jointAt.width),
  }
}

/** A body in free fall from rest, by semi-implicit Euler: v(k) = -g k dt, z(k) = dt (v(1) + … + v(k)). */
export const falling = (frame: number): SceneBody => ({
  position: [0, 0, (-g * dt * dt * frame * (frame + 1)) / 2],
  velocity: [0, 0, -g * frame * dt],
})

/** The contact of a body on the floor that supports its weight. */
export const lying = (mass: number): SceneContact => ({ n: mass * g * dt })
