import { checkJson, type JsonLimits, jsonLimits } from '@causeway/protocol'
import { RecordingError } from '../../errors.ts'
import { solverFields, systemEnergyFields } from '../fields.ts'
import { type PackedFrame, packContacts, type SolverRow } from '../packed-frame.ts'
import { convertContacts } from './convention.ts'
import { isEnvironmentBody, readBodies } from './frame-bodies.ts'
import {
  type ContactLists,
  clearLists,
  createBodyFinder,
  createLists,
  readContacts,
  viewRows,
} from './frame-contacts.ts'
import { computeSystemEnergy, type RecordedSystem } from './frame-energy.ts'
import { readJoints } from './frame-joints.ts'
import {
  type Members,
  readFlag,
  readInteger,
  readNumber,
  requireKnownMembers,
  toMembers,
  withPath,
} from './json-value.ts'
import { type RunContext, type RunFacts, readRun } from './run-line.ts'

export type Line =
  | { readonly run: RunFacts }
  | {
      readonly frame: PackedFrame
      /** Whether the line has a list of contacts, even an empty one. */
      readonly hasContactData: boolean
    }

const frameMembers: ReadonlySet<string> = new Set([
  'frame_id',
  'time',
  'wall_time',
  'bodies',
  'contacts',
  'joints',
  'solver',
  'energies',
])
const runMember: ReadonlySet<string> = new Set(['run'])
const solverMembers: ReadonlySet<string> = new Set(solverFields)
const systemMembers: ReadonlySet<string> = new Set(systemEnergyFields)

/** Non-finite numbers, which Python writes although JSON does not allow them. */
const bareWordPattern = /(?<=[[,:\s])(-?)(NaN|Infinity)(?=[\],}\s])/g

/** The returned parser throws `INVALID_FRAME` and the errors of `checkJson`. A frame is valid until the next line. */
export function createLineReader(context: RunContext): (text: string) => Line {
  const readLine = createFrameReader(context)
  return (text) => readLine(parse(text))
}

/** A frame is valid until the next object. */
export function createFrameReader(context: RunContext): (value: unknown) => Line {
  const contacts = createLists()
  return (value) => {
    const line = toMembers(value, 'the line')
    if (line.run !== undefined) {
      requireKnownMembers(line, runMember, 'the line')
      return { run: readRun(line.run, context.constants.convention) }
    }
    clearLists(contacts)
    const hasContactData = line.contacts !== undefined && line.contacts !== null
    return { frame: readFrame(line, context, contacts), hasContactData }
  }
}

/** Length above which lines are checked against the JSON limits. */
const minCheckedLength = 2 ** 20

/** Counts are unlimited, because a frame of 90,000 bodies has over 200,000 members. */
const lineLimits: JsonLimits = {
  ...jsonLimits,
  containers: Number.POSITIVE_INFINITY,
  values: Number.POSITIVE_INFINITY,
  members: Number.POSITIVE_INFINITY,
}

function parse(text: string): unknown {
  if (text.length > minCheckedLength) checkJson(Buffer.from(text), { limits: lineLimits })
  try {
    return JSON.parse(text)
  } catch {
    try {
      return JSON.parse(
        text.replace(bareWordPattern, (_, sign, word) => (word === 'NaN' ? 'null' : `${sign}1e999`)),
      )
    } catch (error) {
      throw new RecordingError(
        'INVALID_FRAME',
        `the line is not valid JSON: ${(error as SyntaxError).message}`,
        {
          remedy: 'send one JSON object per line: {"run": …} or {"frame_id": …}; null for an unknown number',
          data: { path: '', expected: 'a JSON object' },
          cause: error,
        },
      )
    }
  }
}

function readFrame(line: Members, context: RunContext, contacts: ContactLists): PackedFrame {
  requireKnownMembers(line, frameMembers, 'the line')
  const id = readInteger(line.frame_id, 'frame_id', 1, Number.MAX_SAFE_INTEGER - 1)
  const seenIds = new Set<number>()
  const bodies = readBodies(line.bodies, context, { contacts, seenIds })
  const isDynamic = (body: number): boolean => {
    if (context.isKnown(body) || (seenIds.has(body) && !isEnvironmentBody(body, context))) return true
    const declaredBody = context.bodies.get(body)
    return declaredBody !== undefined && !declaredBody.isEnvironment
  }
  const isEnvironment = (body: number): boolean => context.bodies.has(body) || context.isKnown(body)
  const findBody = createBodyFinder(isDynamic, isEnvironment)
  readContacts(line.contacts, contacts, findBody)
  if (context.constants.convention !== null) convertContacts(contacts, context.constants.convention)
  const joints = readJoints(line.joints, context, findBody)
  const isTouching = contacts.collisions.length > 0
  const recordedSystem = readSystem(line.energies)
  return {
    id,
    time: readNumber(line.time, 'time', 's'),
    wallTime: readNumber(line.wall_time, 'wall_time', 's since the epoch'),
    bodies,
    contacts:
      isTouching || contacts.externals.length > 0 ? packContacts(viewRows(contacts), context.allocate) : null,
    joints,
    solver: readSolver(line.solver, contacts),
    system: computeSystemEnergy(bodies, recordedSystem, context.getPreviousEnergy(), isTouching),
  }
}

function readSolver(value: unknown, contacts: ContactLists): SolverRow | null {
  if (value === undefined || value === null) return null
  return withPath('solver', () => {
    const solver = toMembers(value)
    requireKnownMembers(solver, solverMembers)
    const count = (name: 'num_constraints' | 'num_contacts', fallback: number): number =>
      solver[name] === undefined ? fallback : readInteger(solver[name], name, 0, Number.MAX_SAFE_INTEGER)
    return {
      iterations: readNumber(solver.iterations, 'iterations', ''),
      residual: readNumber(solver.residual, 'residual', ''),
      converged: solver.converged == null ? null : readFlag(solver.converged, 'converged'),
      constraints: count('num_constraints', contacts.constraints.length / 14 + contacts.friction.length / 21),
      contacts: count('num_contacts', contacts.collisions.length / 7),
    }
  })
}

function readSystem(value: unknown): RecordedSystem {
  if (value === undefined || value === null) return {}
  return withPath('energies', () => {
    const energies = toMembers(value)
    requireKnownMembers(energies, systemMembers)
    const readJoules = (name: string) => readNumber(energies[name], name, 'J')
    const readFlagMember = (name: 'energy_injection' | 'collision_active') => readFlag(energies[name], name)
    return {
      linear: readJoules('total_linear_ke'),
      rotational: readJoules('total_rotational_ke'),
      potential: readJoules('total_potential_e'),
      total: readJoules('total_system_e'),
      delta: readJoules('delta_e'),
      ...(energies.energy_injection === undefined ? {} : { injection: readFlagMember('energy_injection') }),
      ...(energies.collision_active === undefined ? {} : { active: readFlagMember('collision_active') }),
    }
  })
}
