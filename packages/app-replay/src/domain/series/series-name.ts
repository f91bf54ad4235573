import { CausewayError, closest } from '@causeway/protocol'
import type { BodyId } from '@causeway/recording'

const frameQuantities = {
  frame: { unit: '', quantity: 'frame' },
  time: { unit: 's', quantity: 'time' },
  'energy.total': { unit: 'J', quantity: 'energy' },
  'energy.linear': { unit: 'J', quantity: 'energy' },
  'energy.rotational': { unit: 'J', quantity: 'energy' },
  'energy.potential': { unit: 'J', quantity: 'energy' },
  'energy.delta': { unit: 'J', quantity: 'energy' },
  'solver.iterations': { unit: 'count', quantity: 'iterations' },
  'solver.residual': { unit: 'as recorded', quantity: 'residual' },
  'solver.converged': { unit: 'yes = 1', quantity: 'converged' },
  'solver.constraints': { unit: 'count', quantity: 'constraints' },
  'contacts.pairs': { unit: 'count', quantity: 'pairs' },
  'contacts.depth': { unit: 'm', quantity: 'depth' },
} as const

/** Quantities of `body.<id>.<quantity>`. */
const bodyQuantities = {
  'position.x': { unit: 'm', quantity: 'position' },
  'position.y': { unit: 'm', quantity: 'position' },
  'position.z': { unit: 'm', quantity: 'position' },
  'velocity.x': { unit: 'm/s', quantity: 'velocity' },
  'velocity.y': { unit: 'm/s', quantity: 'velocity' },
  'velocity.z': { unit: 'm/s', quantity: 'velocity' },
  speed: { unit: 'm/s', quantity: 'speed' },
  'spin.x': { unit: 'rad/s', quantity: 'spin' },
  'spin.y': { unit: 'rad/s', quantity: 'spin' },
  'spin.z': { unit: 'rad/s', quantity: 'spin' },
  spin: { unit: 'rad/s', quantity: 'spin' },
  'energy.total': { unit: 'J', quantity: 'energy' },
  'energy.linear': { unit: 'J', quantity: 'energy' },
  'energy.rotational': { unit: 'J', quantity: 'energy' },
  'energy.potential': { unit: 'J', quantity: 'energy' },
  contacts: { unit: 'count', quantity: 'pairs' },
} as const

/** Quantities of `pair.<id>.<id or floor>.<quantity>`. */
const pairQuantities = {
  contact: { unit: 'touching = 1', quantity: 'contact' },
  points: { unit: 'count', quantity: 'contact points' },
  depth: { unit: 'm', quantity: 'depth' },
  normal_force: { unit: 'N', quantity: 'force' },
  friction_force: { unit: 'N', quantity: 'force' },
  friction_limit: { unit: 'N', quantity: 'force' },
  utilization: { unit: '|Ft| / µFn', quantity: 'utilization' },
} as const

type FrameQuantity = keyof typeof frameQuantities
type BodyQuantity = keyof typeof bodyQuantities
type PairQuantity = keyof typeof pairQuantities

/** Plain data for the worker. */
export type SeriesPlan = { readonly name: string; readonly unit: string; readonly quantity: string } & (
  | { readonly subject: 'frame'; readonly quantityKey: FrameQuantity }
  | { readonly subject: 'body'; readonly body: BodyId; readonly quantityKey: BodyQuantity }
  /** `b` is `null` for all environment bodies. */
  | {
      readonly subject: 'pair'
      readonly a: BodyId
      readonly b: BodyId | null
      readonly quantityKey: PairQuantity
    }
)

const aliases: Readonly<Record<string, string>> = {
  x: 'position.x',
  y: 'position.y',
  z: 'position.z',
  height: 'position.z',
  vx: 'velocity.x',
  vy: 'velocity.y',
  vz: 'velocity.z',
  energy: 'energy.total',
  frame_id: 'frame',
  delta_e: 'energy.delta',
  iterations: 'solver.iterations',
  residual: 'solver.residual',
  converged: 'solver.converged',
  contacts: 'contacts.pairs',
}
const floorNames = new Set(['floor', 'environment'])

/** `resolveBody` returns a body's recorded id. */
export function parseSeriesName(name: string, resolveBody: (body: number) => BodyId): SeriesPlan {
  const [subject = '', ...nameParts] = name.split('.')
  if (subject === 'body' && nameParts.length >= 2) {
    const [id = '', ...keyParts] = nameParts
    const quantityKey = resolveQuantity(name, keyParts.join('.'), bodyQuantities)
    return {
      name,
      subject,
      body: resolveBody(parseBodyId(name, id)),
      quantityKey,
      ...bodyQuantities[quantityKey],
    }
  }
  if (subject === 'pair' && nameParts.length >= 3) {
    const [a = '', b = '', ...keyParts] = nameParts
    const quantityKey = resolveQuantity(name, keyParts.join('.'), pairQuantities)
    const second = floorNames.has(b) ? null : resolveBody(parseBodyId(name, b))
    return {
      name,
      subject,
      a: resolveBody(parseBodyId(name, a)),
      b: second,
      quantityKey,
      ...pairQuantities[quantityKey],
    }
  }
  if (subject === 'body' || subject === 'pair')
    throw createSeriesError(
      name,
      `${name} lacks a part`,
      subject === 'body' ? 'body.2.speed' : 'pair.2.floor.normal_force',
    )
  const quantityKey = resolveQuantity(name, name, frameQuantities)
  return { name, subject: 'frame', quantityKey, ...frameQuantities[quantityKey] }
}

function resolveQuantity<Quantity extends string>(
  name: string,
  quantityText: string,
  quantities: Readonly<Record<Quantity, unknown>>,
): Quantity {
  const isKnown = (text: string | undefined): text is Quantity =>
    text !== undefined && Object.hasOwn(quantities, text)
  if (isKnown(quantityText)) return quantityText
  const alias = Object.hasOwn(aliases, quantityText) ? aliases[quantityText] : undefined
  if (isKnown(alias)) return alias
  const suggestions = [
    ...Object.keys(quantities),
    ...Object.keys(aliases).filter((alias) => isKnown(aliases[alias])),
  ]
  const suggestion = closest(quantityText, suggestions)
  throw createSeriesError(
    name,
    `no such series: ${name}`,
    suggestion && `${name.slice(0, name.length - quantityText.length)}${suggestion}`,
    suggestions,
  )
}

function parseBodyId(name: string, text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text)
  throw createSeriesError(name, `${text} is not a body id in ${name}`, 'body.2.speed')
}

function createSeriesError(
  series: string,
  message: string,
  suggestion?: string,
  known?: readonly string[],
): CausewayError {
  return new CausewayError(
    'INVALID_ARGUMENTS',
    suggestion === undefined ? message : `${message}, did you mean ${suggestion}`,
    {
      remedy: 'use energy.*, solver.*, contacts.*, body.<id>.* or pair.<id>.<id or floor>.*',
      data: {
        series,
        ...(suggestion === undefined ? {} : { did_you_mean: suggestion }),
        ...(known === undefined ? {} : { known }),
      },
    },
  )
}
