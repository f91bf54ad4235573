/** Reading one line of a recording that is being sent: a run line or a frame line. */
import { CausewayError, checkJson, type JsonLimits, jsonLimits } from '@causeway/protocol'
import { bodyWidth, type PackedFrame, packContacts, type SolverRow } from './packed-frame.ts'
import { type GivenSystem, systemEnergy } from './run-energy.ts'
import { type RunFacts, type RunKnowledge, readRun } from './run-facts.ts'
import { readBodies } from './wire-bodies.ts'
import {
  bodyFinder,
  type ContactLists,
  clearLists,
  emptyLists,
  readContacts,
  rowsOf,
} from './wire-contacts.ts'
import { flag, type Members, members, number, requireKnown, whole } from './wire-value.ts'

/** What a line says. */
export type Line =
  | { readonly run: RunFacts }
  | {
      readonly frame: PackedFrame
      /** the line has a list of contacts, which may be empty */
      readonly tellsContacts: boolean
    }

const frameMembers: ReadonlySet<string> = new Set([
  'frame_id',
  'time',
  'wall_time',
  'bodies',
  'contacts',
  'solver',
  'energies',
])
const runMember: ReadonlySet<string> = new Set(['run'])
const solverMembers: ReadonlySet<string> = new Set([
  'iterations',
  'residual',
  'converged',
  'num_constraints',
  'num_contacts',
])
const systemMembers: ReadonlySet<string> = new Set([
  ...['total_linear_ke', 'total_rotational_ke', 'total_potential_e', 'total_system_e', 'delta_e'],
  ...['energy_injection', 'collision_active'],
])

/** Python writes what is not finite as bare words, which are no JSON. */
const bareWord = /(?<=[[,:\s])(-?)(NaN|Infinity)(?=[\],}\s])/g

/** Makes what parses and checks lines, one after the other; it throws `INVALID_FRAME`, and what `checkJson` throws. */
export function lineReader(knowledge: RunKnowledge): (text: string) => Line {
  const contacts = emptyLists()
  return (text) => {
    const line = members(parse(text), 'the line')
    if (line.run !== undefined) {
      requireKnown(line, '', runMember)
      return { run: readRun(line.run) }
    }
    clearLists(contacts)
    const tellsContacts = line.contacts !== undefined && line.contacts !== null
    return { frame: readFrame(line, knowledge, contacts), tellsContacts }
  }
}

/** Characters of a line that is checked against the limits of JSON first. Few frames are as long. */
const checkedLength = 2 ** 20

/** The maximum length of a line bounds the rest: a frame of 90,000 bodies has more than 500,000 members. */
const lineLimits: JsonLimits = {
  ...jsonLimits,
  containers: Number.POSITIVE_INFINITY,
  values: Number.POSITIVE_INFINITY,
  members: Number.POSITIVE_INFINITY,
}

function parse(text: string): unknown {
  if (text.length > checkedLength) checkJson(Buffer.from(text), lineLimits)
  try {
    return JSON.parse(text)
  } catch {
    try {
      return JSON.parse(text.replace(bareWord, (_, sign, word) => (word === 'NaN' ? 'null' : `${sign}1e999`)))
    } catch (error) {
      throw new CausewayError('INVALID_FRAME', `the line is no JSON: ${(error as SyntaxError).message}`, {
        remedy:
          'send one JSON object a line: {"run": …} or {"frame_id": …}; null for a number that is not known',
        data: { path: '', expected: 'a JSON object' },
        cause: error,
      })
    }
  }
}

function readFrame(line: Members, knowledge: RunKnowledge, contacts: ContactLists): PackedFrame {
  requireKnown(line, '', frameMembers)
  const id = whole(line.frame_id, 'frame_id', 1, Number.MAX_SAFE_INTEGER - 1)
  const bodies = readBodies(line.bodies, knowledge, contacts)
  const present = new Set<number>()
  for (let at = 0; at < bodies.length; at += bodyWidth) present.add(bodies[at] ?? 0)
  const isDynamic = (body: number): boolean => {
    const declared = knowledge.bodies.get(body)
    return present.has(body) || knowledge.isKnown(body) || (declared !== undefined && !declared.isEnvironment)
  }
  const isEnvironment = (body: number): boolean => knowledge.bodies.has(body) || knowledge.isKnown(body)
  readContacts(line.contacts, contacts, bodyFinder(isDynamic, isEnvironment))
  const isTouching = contacts.collisions.length > 0
  const given = readSystem(line.energies)
  return {
    id,
    time: number(line.time, 'time', '', 's'),
    wallTime: number(line.wall_time, 'wall_time', '', 's since the epoch'),
    bodies,
    contacts:
      isTouching || contacts.externals.length > 0 ? packContacts(rowsOf(contacts), knowledge.room) : null,
    solver: readSolver(line.solver, contacts),
    system: systemEnergy(bodies, given, knowledge.energyBefore(), isTouching),
  }
}

function readSolver(value: unknown, contacts: ContactLists): SolverRow | null {
  if (value === undefined || value === null) return null
  const solver = members(value, 'solver')
  requireKnown(solver, 'solver', solverMembers)
  const count = (name: 'num_constraints' | 'num_contacts', otherwise: number): number =>
    solver[name] === undefined ? otherwise : whole(solver[name], `solver.${name}`, 0, Number.MAX_SAFE_INTEGER)
  return {
    iterations: number(solver.iterations, 'iterations', 'solver', ''),
    residual: number(solver.residual, 'residual', 'solver', ''),
    converged: flag(solver.converged, 'solver.converged'),
    constraints: count('num_constraints', contacts.constraints.length / 14 + contacts.friction.length / 21),
    contacts: count('num_contacts', contacts.collisions.length / 7),
  }
}

function readSystem(value: unknown): GivenSystem {
  if (value === undefined || value === null) return {}
  const energies = members(value, 'energies')
  requireKnown(energies, 'energies', systemMembers)
  const joule = (name: string) => number(energies[name], name, 'energies', 'J')
  const claim = (name: 'energy_injection' | 'collision_active') => flag(energies[name], `energies.${name}`)
  return {
    linear: joule('total_linear_ke'),
    rotational: joule('total_rotational_ke'),
    potential: joule('total_potential_e'),
    total: joule('total_system_e'),
    delta: joule('delta_e'),
    ...(energies.energy_injection === undefined ? {} : { injection: claim('energy_injection') }),
    ...(energies.collision_active === undefined ? {} : { active: claim('collision_active') }),
  }
}
