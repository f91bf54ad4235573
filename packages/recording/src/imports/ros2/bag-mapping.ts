import { isObject } from '@causeway/protocol'
import { rejectMapping } from '../../domain/imports/table-mapping.ts'

export interface BagMapping {
  /** Members of the run line by body name; null for all bodies of the bag. */
  readonly bodies: Readonly<Record<string, Readonly<Record<string, unknown>>>> | null
  /** Frame of reference for positions; null for the root with the most bodies. */
  readonly fixedFrame: string | null
  /** Maximum difference between times within a frame, in ns. */
  readonly tolerance: bigint
  /** Topics that contain all contacts of all bodies. */
  readonly contacts: readonly string[]
  readonly run: Readonly<Record<string, unknown>>
}

const members = ['bodies', 'fixed_frame', 'tolerance', 'contacts', 'run']

const toRecord = (value: unknown, path: string): Readonly<Record<string, unknown>> =>
  isObject(value) ? value : rejectMapping(path, 'an object')

export function readBagMapping(value: unknown): BagMapping {
  const mapping = value === undefined ? {} : toRecord(value, 'the object')
  for (const key of Object.keys(mapping))
    if (!members.includes(key)) rejectMapping(key, `one of ${members.join(', ')}`)
  const { tolerance = 0, fixed_frame: fixedFrame = null, contacts = [], bodies, run = {} } = mapping
  if (typeof tolerance !== 'number' || !(tolerance >= 0 && tolerance <= 1))
    return rejectMapping('tolerance', 'seconds from 0 to 1')
  if (fixedFrame !== null && typeof fixedFrame !== 'string')
    return rejectMapping('fixed_frame', 'the name of a frame')
  if (!Array.isArray(contacts) || !contacts.every((topic) => typeof topic === 'string'))
    return rejectMapping('contacts', 'a list of topics')
  const bodyEntries = bodies == null ? null : Object.entries(toRecord(bodies, 'bodies'))
  return {
    bodies:
      bodyEntries &&
      Object.fromEntries(bodyEntries.map(([name, body]) => [name, toRecord(body, `bodies.${name}`)])),
    fixedFrame: fixedFrame && trimFrame(fixedFrame),
    tolerance: BigInt(Math.round(tolerance * 1e9)),
    contacts,
    run: toRecord(run, 'run'),
  }
}

/** Removes a leading slash, which frame names in older bags have. */
export const trimFrame = (name: string): string => name.replace(/^\/+/, '')
