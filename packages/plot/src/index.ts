export {
  type Bounds,
  boundsOverlap,
  createBoundsPolygon,
  findBounds,
  padBounds,
  toEastward,
  uniteBounds,
} from './bounds.ts'
export {
  addFeatures,
  commandNames,
  composite,
  type DebriefCommand,
  deleteFeatures,
  legacyCommandNames,
  setSelection,
  setTimeState,
  setViewport,
  showData,
  showText,
  updateFeatures,
} from './command.ts'
export {
  coordinateDepths,
  countVertices,
  type Feature,
  type Geometry,
  getDataType,
  getFeatureId,
  getGeometryType,
  getKind,
  getLabel,
  getName,
  getProperties,
  type LonLat,
  listParts,
  listPaths,
  type Position,
} from './feature.ts'
export { formatCount } from './format-count.ts'
export { type Injection, readInjection } from './injection.ts'
export {
  coverSpans,
  nearestLongitude,
  normalizeLongitude,
  unwrapLongitudes,
  unwrapPath,
} from './longitude.ts'
export { findTimeRange, type TimeState } from './time.ts'
export { keepVertices, selectVertices } from './vertices.ts'
