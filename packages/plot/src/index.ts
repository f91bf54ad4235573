export {
  areBoundsOverlapping,
  type Bounds,
  createBoundsPolygon,
  findBounds,
  padBounds,
  uniteBounds,
  unwrapBounds,
} from './bounds.ts'
export {
  addFeatures,
  commandNames,
  createComposite,
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
  findNearestLongitude,
  normalizeLongitude,
  unwrapLongitudes,
  unwrapPath,
} from './longitude.ts'
export { findTimeRange, type TimeState } from './time.ts'
export { retainVertices, selectVertices } from './vertices.ts'
