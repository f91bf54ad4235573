import {
  type Capability,
  type ColumnSelection,
  collisionAt,
  energyAt,
  type FlatRows,
  type FrameWindow,
  frictionAt,
  type RecordingSummary,
  solverAt,
  stateAt,
  systemAt,
  type WindowPart,
} from '@causeway/recording'
import { createEnvironmentTest } from '../bodies/body.ts'
import { toNewtons } from '../contacts/force.ts'
import type { SeriesPlan } from './series-name.ts'

/** Reads a series in any row of any window. NaN means not recorded. */
type Sampler = (window: FrameWindow, row: number) => number

type SampledRecording = Pick<
  RecordingSummary,
  'lambda_unit' | 'dt_s' | 'dt_uniform' | 'bodies' | 'capabilities'
>
type Plan<Subject extends SeriesPlan['subject']> = Extract<SeriesPlan, { subject: Subject }>

export function createSampler(plan: SeriesPlan, summary: SampledRecording): Sampler {
  const requiredCapability = getRequiredCapability(plan)
  if (requiredCapability !== undefined && !summary.capabilities.includes(requiredCapability))
    return () => Number.NaN
  if (plan.subject === 'frame') return createFrameSampler(plan)
  return plan.subject === 'body' ? createBodySampler(plan) : createPairSampler(plan, summary)
}

export function selectColumns(plans: readonly SeriesPlan[]): ColumnSelection {
  return {
    parts: [...new Set(plans.flatMap(listParts))],
    bodies: [...new Set(plans.flatMap((plan) => (plan.subject === 'body' ? [plan.body] : [])))],
  }
}

function listParts({ subject, quantityKey }: SeriesPlan): readonly WindowPart[] {
  const [group = ''] = quantityKey.split('.')
  if (group === 'contacts' || (subject === 'pair' && (quantityKey === 'contact' || quantityKey === 'depth')))
    return ['collisions']
  if (subject === 'pair') return ['friction']
  if (group === 'energy') return [subject === 'body' ? 'energies' : 'system']
  if (group === 'speed') return ['velocity']
  return group === 'position' || group === 'velocity' || group === 'spin' || group === 'solver' ? [group] : []
}

/** Returns the capability that a recording must have so that missing rows mean 0. */
function getRequiredCapability(plan: SeriesPlan): Capability | undefined {
  if (plan.subject !== 'pair') return plan.quantityKey.startsWith('contacts') ? 'collisions' : undefined
  return plan.quantityKey === 'contact' || plan.quantityKey === 'depth' ? 'collisions' : 'friction'
}

function createFrameSampler({ quantityKey }: Plan<'frame'>): Sampler {
  const system =
    (column: number): Sampler =>
    (window, row) =>
      window.system.get(row, column)
  const solver =
    (column: number): Sampler =>
    (window, row) =>
      window.solver.get(row, column)
  const samples: Readonly<Record<typeof quantityKey, Sampler>> = {
    frame: ({ frames }, row) => frames[row] ?? Number.NaN,
    time: ({ times }, row) => times[row] ?? Number.NaN,
    'energy.total': system(systemAt.total),
    'energy.linear': system(0),
    'energy.rotational': system(1),
    'energy.potential': system(2),
    // The change of the first frame is the total energy of the system.
    'energy.delta': (window, row) => (row === 0 ? Number.NaN : window.system.get(row, systemAt.delta)),
    'solver.iterations': solver(solverAt.iterations),
    'solver.residual': solver(solverAt.residual),
    'solver.converged': (window, row) =>
      window.solver.get(row, solverAt.constraints) > 0
        ? window.solver.get(row, solverAt.converged)
        : Number.NaN,
    'solver.constraints': solver(solverAt.constraints),
    'contacts.pairs': ({ collisions }, row) => getEndRow(collisions, row) - getFirstRow(collisions, row),
    'contacts.depth': ({ collisions }, row) => {
      let deepest = 0
      for (let at = getFirstRow(collisions, row); at < getEndRow(collisions, row); at++)
        deepest = getMaxDepth(deepest, collisions.data.get(at, collisionAt.depth))
      return deepest
    },
  }
  return samples[quantityKey]
}

const axes = ['x', 'y', 'z']

function createBodySampler({ body, quantityKey }: Plan<'body'>): Sampler {
  if (quantityKey === 'contacts')
    return ({ collisions }, row) => countRows(collisions, row, (a, b) => a === body || b === body)
  const createStateSampler =
    (read: (window: FrameWindow, row: number, column: number) => number): Sampler =>
    (window, row) => {
      const column = window.bodies.indexOf(body)
      return column === -1 ? Number.NaN : read(window, row, column)
    }
  const [group = '', part = ''] = quantityKey.split('.')
  if (group === 'energy') {
    const field = energyAt[part as 'linear' | 'rotational' | 'potential' | 'total']
    return createStateSampler(({ energies }, row, column) => energies.get(row, column, field))
  }
  const first =
    { position: stateAt.position, velocity: stateAt.velocity, speed: stateAt.velocity }[group] ?? stateAt.spin
  if (part !== '')
    return createStateSampler(({ states }, row, column) =>
      states.get(row, column, first + axes.indexOf(part)),
    )
  return createStateSampler(({ states }, row, column) => {
    const [x, y, z] = [0, 1, 2].map((axis) => states.get(row, column, first + axis))
    return Math.hypot(x ?? 0, y ?? 0, z ?? 0)
  })
}

function createPairSampler({ a, b, quantityKey }: Plan<'pair'>, summary: SampledRecording): Sampler {
  const isEnvironment = createEnvironmentTest(summary)
  const isOtherBody = (id: number): boolean => (b === null ? isEnvironment(id) : id === b)
  const isPair = (bodyA: number, bodyB: number): boolean =>
    (bodyA === a && isOtherBody(bodyB)) || (bodyB === a && isOtherBody(bodyA))
  const sumFriction = createFrictionSummer(isPair)
  const createForceSampler =
    (part: 'normal' | 'tangent' | 'limit'): Sampler =>
    (window, row) =>
      toNewtons(sumFriction(window, row)[part], {
        unit: summary.lambda_unit,
        dt: getStep(window, row, summary),
      }) ?? Number.NaN
  const samples: Readonly<Record<typeof quantityKey, Sampler>> = {
    contact: ({ collisions }, row) => Math.min(1, countRows(collisions, row, isPair)),
    points: (window, row) => countRows(window.friction, row, isPair),
    depth: ({ collisions }, row) => {
      let deepest = 0
      for (let at = getFirstRow(collisions, row); at < getEndRow(collisions, row); at++)
        if (isPair(collisions.data.get(at, collisionAt.a), collisions.data.get(at, collisionAt.b)))
          deepest = getMaxDepth(deepest, collisions.data.get(at, collisionAt.depth))
      return deepest
    },
    normal_force: createForceSampler('normal'),
    friction_force: createForceSampler('tangent'),
    friction_limit: createForceSampler('limit'),
    utilization: (window, row) => sumFriction(window, row).utilization,
  }
  return samples[quantityKey]
}

/** Returns sums over a pair's contact points in recorded units, and the maximum utilization. */
const createFrictionSummer =
  (isPair: (a: number, b: number) => boolean) =>
  ({ friction: { offset, data } }: FrameWindow, row: number) => {
    const sums = { normal: 0, tangent: 0, limit: 0, utilization: Number.NaN }
    for (let at = offset[row] ?? 0; at < (offset[row + 1] ?? 0); at++) {
      const value = (column: number): number => data.get(at, column)
      if (!isPair(value(frictionAt.a), value(frictionAt.b))) continue
      const tangent = Math.hypot(value(frictionAt.t1), value(frictionAt.t2))
      const limit = value(frictionAt.mu) * Math.abs(value(frictionAt.n))
      sums.normal += Math.abs(value(frictionAt.n))
      sums.tangent += tangent
      sums.limit += limit
      if (limit > 0 && !(tangent / limit <= sums.utilization)) sums.utilization = tangent / limit
    }
    return sums
  }

function getStep({ times }: FrameWindow, row: number, { dt_s, dt_uniform }: SampledRecording): number | null {
  if (dt_uniform) return dt_s
  const [now, before] = [times[row], times[row - 1]]
  return now === undefined || before === undefined ? dt_s : now - before
}

/** Ignores a missing depth. */
const getMaxDepth = (deepest: number, depth: number): number => (depth > deepest ? depth : deepest)

const getFirstRow = ({ offset }: FlatRows, row: number): number => offset[row] ?? 0
const getEndRow = ({ offset }: FlatRows, row: number): number => offset[row + 1] ?? 0

function countRows(rows: FlatRows, row: number, predicate: (a: number, b: number) => boolean): number {
  let count = 0
  for (let at = getFirstRow(rows, row); at < getEndRow(rows, row); at++)
    if (predicate(rows.data.get(at, collisionAt.a), rows.data.get(at, collisionAt.b))) count += 1
  return count
}
