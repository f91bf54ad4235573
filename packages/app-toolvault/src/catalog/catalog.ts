import cpaTcpa from '../tools/cpa-tcpa.ts'
import deleteFeatures from '../tools/delete-features.ts'
import deriveSpeedCourse from '../tools/derive-speed-course.ts'
import exportFeatures from '../tools/export-features.ts'
import findJumps from '../tools/find-jumps.ts'
import fitToSelection from '../tools/fit-to-selection.ts'
import importAis from '../tools/import/import-ais.ts'
import importGpx from '../tools/import/import-gpx.ts'
import importKml from '../tools/import/import-kml.ts'
import importNmea from '../tools/import/import-nmea.ts'
import importRep from '../tools/import/import-rep.ts'
import interpolatePosition from '../tools/interpolate-position.ts'
import rangeBearing from '../tools/range-bearing.ts'
import resampleTrack from '../tools/resample-track.ts'
import selectAllVisible from '../tools/select-all-visible.ts'
import selectFeatureStartTime from '../tools/select-feature-start-time.ts'
import simplifyTrack from '../tools/simplify-track.ts'
import toggleFirstFeatureColor from '../tools/toggle-first-feature-color.ts'
import trackSpeedFilter from '../tools/track-speed-filter.ts'
import trackSpeedFilterFast from '../tools/track-speed-filter-fast.ts'
import trackStats from '../tools/track-stats.ts'
import viewportGridGenerator from '../tools/viewport-grid-generator.ts'
import wordCount from '../tools/word-count.ts'
import zoneTransits from '../tools/zone-transits.ts'
import type { VaultTool } from './vault-tool.ts'

/** All tools, in listing order. */
export const catalog: readonly VaultTool[] = [
  deleteFeatures,
  toggleFirstFeatureColor,
  fitToSelection,
  selectAllVisible,
  selectFeatureStartTime,
  wordCount,
  trackSpeedFilter,
  trackSpeedFilterFast,
  viewportGridGenerator,
  rangeBearing,
  cpaTcpa,
  zoneTransits,
  trackStats,
  findJumps,
  simplifyTrack,
  resampleTrack,
  interpolatePosition,
  deriveSpeedCourse,
  importNmea,
  importAis,
  importRep,
  importGpx,
  importKml,
  exportFeatures,
]

export const findTool = (name: string): VaultTool | undefined => catalog.find((tool) => tool.name === name)
