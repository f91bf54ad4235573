import { coordinateDepths, type Feature, type Geometry, getFeatureId, getLabel } from '@causeway/plot'
import { CausewayError, type JsonObject } from '@causeway/protocol'
import { ToolVaultError } from '../../errors.ts'

interface FeatureProblem {
  readonly index: number
  readonly id: string | null
  readonly reason: string
}

const maxReportedProblems = 20

/** Throws `INVALID_ARGUMENTS` with `data.problems` and `data.total`. */
export function readFeatures(values: readonly unknown[], argument: string): readonly Feature[] {
  const problems: FeatureProblem[] = []
  for (const [index, value] of values.entries()) {
    const reason = findProblem(value)
    if (reason !== undefined) problems.push({ index, id: getFeatureId(value as Feature), reason })
  }
  if (problems.length === 0) return values.map((value) => addMissingMembers(value as Feature))
  const [first] = problems
  throw new CausewayError(
    'INVALID_ARGUMENTS',
    `${argument}: ${problems.length} of ${values.length} features are invalid, the first at index ${first?.index}: ${first?.reason}`,
    { data: { problems: problems.slice(0, maxReportedProblems), total: problems.length } },
  )
}

const addMissingMembers = (feature: Feature): Feature => {
  const { geometry, properties } = feature as Partial<Feature>
  const isComplete = geometry !== undefined && properties !== null && properties !== undefined
  return isComplete ? feature : { ...feature, geometry: geometry ?? null, properties: properties ?? {} }
}

function findProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return 'not an object'
  const { type, geometry, properties } = value as JsonObject
  if (type !== 'Feature') return 'type is not Feature'
  if (properties !== null && properties !== undefined && typeof properties !== 'object')
    return 'properties is not an object'
  if (geometry === null || geometry === undefined) return undefined
  const { type: kind, coordinates } = geometry as Partial<Geometry>
  const depth =
    typeof kind === 'string' && Object.hasOwn(coordinateDepths, kind) ? coordinateDepths[kind] : undefined
  if (depth === undefined)
    return `geometry type ${JSON.stringify(kind)} is not one of ${Object.keys(coordinateDepths).join(', ')}`
  return findCoordinateProblem(coordinates, depth)
}

function findCoordinateProblem(value: unknown, depth: number): string | undefined {
  if (!Array.isArray(value)) return 'the nesting of coordinates does not match the geometry type'
  if (depth === 0) return findPositionProblem(value)
  for (const part of value) {
    const reason = findCoordinateProblem(part, depth - 1)
    if (reason !== undefined) return reason
  }
  return undefined
}

function findPositionProblem(position: readonly unknown[]): string | undefined {
  const [lon, lat] = position
  if (typeof lon !== 'number' || typeof lat !== 'number' || !Number.isFinite(lon) || !Number.isFinite(lat))
    return `not a position: ${JSON.stringify(position)}`
  if (Math.abs(lat) > 90) return `latitude ${lat} is outside -90 to 90`
  if (Math.abs(lon) > 540) return `longitude ${lon} is outside -540 to 540`
  return undefined
}

/** Creates `FEATURE_UNUSABLE`. `reason` continues a sentence that starts with the feature's label. */
export const createFeatureError = (feature: Feature, reason: string): CausewayError =>
  new ToolVaultError('FEATURE_UNUSABLE', `${getLabel(feature)} ${reason}`, {
    data: { problems: [{ id: getFeatureId(feature), reason }] },
  })
