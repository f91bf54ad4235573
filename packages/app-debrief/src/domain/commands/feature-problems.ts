import { parseTime } from '@causeway/app-kit/time'
import { getDataType, getFeatureId, getProperties, listPaths } from '@causeway/plot'
import { isObject, type JsonObject } from '@causeway/protocol'
import { DebriefError } from '../../errors.ts'
import { findGeometryProblems } from './geometry-problems.ts'

/** Problems of one feature, in the format of the original plot server. */
interface FeatureProblem {
  readonly index: number
  readonly featureId: string | null
  readonly featureType: string | null
  readonly errors: readonly string[]
}

const maxListedProblems = 20

const annotationTypes = ['label', 'area', 'measurement', 'comment', 'boundary']
const colourPattern = /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i

/** Accepts unknown members. */
export function findFeatureProblems(
  features: readonly unknown[],
  options: { readonly idRequired: boolean },
): readonly FeatureProblem[] {
  const check = createFeatureChecker(options)
  return features.flatMap((feature, index) => check(feature, index) ?? [])
}

/** The returned function also detects repeated ids. */
export function createFeatureChecker({
  idRequired,
}: {
  readonly idRequired: boolean
}): (feature: unknown, index: number) => FeatureProblem | null {
  const firstIndices = new Map<string, number>()
  return (feature, index) => {
    const errors = [...findProblems(feature, idRequired)]
    const id = isObject(feature) ? getFeatureId(feature) : null
    const firstIndex = id === null ? undefined : firstIndices.get(id)
    if (firstIndex !== undefined) errors.push(`features[${firstIndex}] has the same id`)
    if (id !== null && firstIndex === undefined) firstIndices.set(id, index)
    const featureType = isObject(feature) ? getDataType(feature) : null
    return errors.length === 0 ? null : { index, featureId: id, featureType, errors }
  }
}

/** Throws `INVALID_FEATURES`. */
export function requireValidFeatures(
  features: readonly unknown[],
  options: { readonly idRequired: boolean },
): asserts features is readonly JsonObject[] {
  const problems = findFeatureProblems(features, options)
  const [first] = problems
  if (first === undefined) return
  const remainder = problems.length === 1 ? '' : `, and ${problems.length - 1} more`
  throw new DebriefError(
    'INVALID_FEATURES',
    `feature ${first.index} (${first.featureId ?? 'no id'}): ${first.errors[0]}${remainder}`,
    { data: { features: problems.slice(0, maxListedProblems), total: problems.length } },
  )
}

function* findProblems(feature: unknown, idRequired: boolean): Generator<string> {
  if (!isObject(feature)) {
    yield 'it is not an object'
    return
  }
  if (feature.type !== 'Feature') yield 'type must be "Feature"'
  const { id } = feature
  if (id === undefined || id === null) {
    if (idRequired) yield 'it has no id'
  } else if (getFeatureId(feature) === null || id === '') yield 'id must be a string or a number'
  if (feature.properties !== null && feature.properties !== undefined && !isObject(feature.properties))
    yield 'properties must be an object'
  const dataType = getDataType(feature)
  // An invalid ring of time metadata is common and has no effect.
  if (dataType !== 'metadata' && dataType !== 'backdrop') yield* findGeometryProblems(feature.geometry)
  if (dataType === 'track') yield* findTrackProblems(feature)
  if (dataType === 'annotation') yield* findAnnotationProblems(getProperties(feature))
  if (dataType !== 'metadata') yield* findPeriodProblems(getProperties(feature))
}

function* findTrackProblems({ geometry, properties }: JsonObject): Generator<string> {
  const type = isObject(geometry) ? geometry.type : null
  if (type !== 'LineString' && type !== 'MultiLineString')
    yield 'a track requires a LineString or MultiLineString'
  const { timestamps } = isObject(properties) ? properties : {}
  if (timestamps === undefined) return
  if (!Array.isArray(timestamps)) {
    yield 'timestamps must be a list of times'
    return
  }
  const vertices = listPaths(geometry).flat().length
  if (timestamps.length !== vertices) yield `it has ${timestamps.length} timestamps for ${vertices} vertices`
  const invalidIndex = timestamps.findIndex((time) => parseTime(time) === undefined)
  if (invalidIndex >= 0)
    yield `timestamps[${invalidIndex}] is not an ISO 8601 time: ${JSON.stringify(timestamps[invalidIndex])}`
}

function* findAnnotationProblems({ annotationType, color }: JsonObject): Generator<string> {
  if (annotationType !== undefined && !annotationTypes.includes(String(annotationType)))
    yield `annotationType must be one of ${annotationTypes.join(', ')}`
  if (color !== undefined && !(typeof color === 'string' && colourPattern.test(color)))
    yield `color must be #RRGGBB, not ${JSON.stringify(color)}`
}

function* findPeriodProblems({ time, timeEnd }: JsonObject): Generator<string> {
  const [start, end] = [parseTime(time), parseTime(timeEnd)]
  if (time !== undefined && time !== null && start === undefined)
    yield `time is not an ISO 8601 time: ${JSON.stringify(time)}`
  if (timeEnd === undefined || timeEnd === null) return
  if (end === undefined) yield `timeEnd is not an ISO 8601 time: ${JSON.stringify(timeEnd)}`
  else if (start === undefined) yield 'timeEnd requires a time'
  else if (end <= start) yield 'timeEnd must be after time'
}
