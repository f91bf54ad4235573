/** What is wrong with features that somebody wants to put into a plot: everything, not only the first thing. */

import { parseTime } from '@causeway/app-kit/time'
import { CausewayError, isObject, type JsonObject } from '@causeway/protocol'
import { dataTypeOf, idOf, positionsOf, propertiesOf } from './feature.ts'
import { geometryProblems } from './geometry-problems.ts'

/** A feature and what is wrong with it; the members are those that readers of these files know. */
export interface FeatureProblem {
  readonly index: number
  readonly featureId: string | null
  readonly featureType: string | null
  readonly errors: readonly string[]
}

/** Problems named in an error; the rest is counted. */
const mostNamed = 20

const annotationTypes = ['label', 'area', 'measurement', 'comment', 'boundary']
const colour = /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i

/** Every feature with something wrong. Unknown members are nobody's fault, and ids may be wanted or not. */
export function featureProblems(
  features: readonly unknown[],
  options: { readonly idRequired: boolean },
): readonly FeatureProblem[] {
  const check = featureChecker(options)
  return features.flatMap((feature, index) => check(feature, index) ?? [])
}

/** Checks features one after the other; each knows the ids of those before it. */
export function featureChecker({
  idRequired,
}: {
  readonly idRequired: boolean
}): (feature: unknown, index: number) => FeatureProblem | null {
  const seen = new Map<string, number>()
  return (feature, index) => {
    const errors = [...problemsOf(feature, idRequired)]
    const id = isObject(feature) ? idOf(feature) : null
    const earlier = id === null ? undefined : seen.get(id)
    if (earlier !== undefined) errors.push(`the id is that of features[${earlier}] too`)
    if (id !== null && earlier === undefined) seen.set(id, index)
    const featureType = isObject(feature) ? dataTypeOf(feature) : null
    return errors.length === 0 ? null : { index, featureId: id, featureType, errors }
  }
}

/** Throws `INVALID_FEATURES` where something is wrong. */
export function checkFeatures(
  features: readonly unknown[],
  options: { readonly idRequired: boolean },
): asserts features is readonly JsonObject[] {
  const problems = featureProblems(features, options)
  const [first] = problems
  if (first === undefined) return
  const others = problems.length === 1 ? '' : `, and ${problems.length - 1} more`
  throw new CausewayError(
    'INVALID_FEATURES',
    `feature ${first.index} (${first.featureId ?? 'no id'}): ${first.errors[0]}${others}`,
    { data: { features: problems.slice(0, mostNamed), total: problems.length } },
  )
}

function* problemsOf(feature: unknown, idRequired: boolean): Generator<string> {
  if (!isObject(feature)) {
    yield 'it is no object'
    return
  }
  if (feature.type !== 'Feature') yield 'type must be "Feature"'
  const { id } = feature
  if (id === undefined || id === null) {
    if (idRequired) yield 'it has no id'
  } else if (idOf(feature) === null || id === '') yield 'id must be a text or a number'
  if (feature.properties !== null && feature.properties !== undefined && !isObject(feature.properties))
    yield 'properties must be an object'
  const dataType = dataTypeOf(feature)
  // Time metadata comes with rings that are none, and its geometry is not used.
  if (dataType !== 'metadata' && dataType !== 'backdrop') yield* geometryProblems(feature.geometry)
  if (dataType === 'track') yield* trackProblems(feature)
  if (dataType === 'annotation') yield* annotationProblems(propertiesOf(feature))
  if (dataType !== 'metadata') yield* periodProblems(propertiesOf(feature))
}

function* trackProblems({ geometry, properties }: JsonObject): Generator<string> {
  const type = isObject(geometry) ? geometry.type : null
  if (type !== 'LineString' && type !== 'MultiLineString')
    yield 'a track needs a LineString or MultiLineString'
  const { timestamps } = isObject(properties) ? properties : {}
  if (timestamps === undefined) return
  if (!Array.isArray(timestamps)) {
    yield 'timestamps must be a list of times'
    return
  }
  const vertices = positionsOf(geometry).length
  if (timestamps.length !== vertices) yield `it has ${timestamps.length} timestamps for ${vertices} vertices`
  const bad = timestamps.findIndex((time) => parseTime(time) === undefined)
  if (bad >= 0) yield `timestamps[${bad}] is no ISO 8601 time: ${JSON.stringify(timestamps[bad])}`
}

function* annotationProblems({ annotationType, color }: JsonObject): Generator<string> {
  if (annotationType !== undefined && !annotationTypes.includes(String(annotationType)))
    yield `annotationType must be one of ${annotationTypes.join(', ')}`
  if (color !== undefined && !(typeof color === 'string' && colour.test(color)))
    yield `color must be #RRGGBB and not ${JSON.stringify(color)}`
}

function* periodProblems({ time, timeEnd }: JsonObject): Generator<string> {
  const [from, to] = [parseTime(time), parseTime(timeEnd)]
  if (time !== undefined && time !== null && from === undefined)
    yield `time is no ISO 8601 time: ${JSON.stringify(time)}`
  if (timeEnd === undefined || timeEnd === null) return
  if (to === undefined) yield `timeEnd is no ISO 8601 time: ${JSON.stringify(timeEnd)}`
  else if (from === undefined) yield 'timeEnd needs a time'
  else if (to <= from) yield 'timeEnd must lie after time'
}
