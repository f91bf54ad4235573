/**
 * The tools of the vault. Each is one folder, `tools/<category>/<tool>/`, with its declaration and its samples, and one
 * line here; a test compares this list with the folders.
 */
import deleteFeatures from './tools/feature-management/delete_features/tool.ts'
import toggleFirstFeatureColor from './tools/feature-management/toggle_first_feature_color/tool.ts'
import importAis from './tools/import/import_ais/tool.ts'
import importGpx from './tools/import/import_gpx/tool.ts'
import importKml from './tools/import/import_kml/tool.ts'
import importNmea from './tools/import/import_nmea/tool.ts'
import importRep from './tools/import/import_rep/tool.ts'
import fitToSelection from './tools/selection/fit_to_selection/tool.ts'
import selectAllVisible from './tools/selection/select_all_visible/tool.ts'
import selectFeatureStartTime from './tools/selection/select_feature_start_time/tool.ts'
import wordCount from './tools/text/word_count/tool.ts'
import cpaTcpa from './tools/track-analysis/cpa_tcpa/tool.ts'
import deriveSpeedCourse from './tools/track-analysis/derive_speed_course/tool.ts'
import findJumps from './tools/track-analysis/find_jumps/tool.ts'
import interpolatePosition from './tools/track-analysis/interpolate_position/tool.ts'
import rangeBearing from './tools/track-analysis/range_bearing/tool.ts'
import resampleTrack from './tools/track-analysis/resample_track/tool.ts'
import simplifyTrack from './tools/track-analysis/simplify_track/tool.ts'
import trackSpeedFilter from './tools/track-analysis/track_speed_filter/tool.ts'
import trackSpeedFilterFast from './tools/track-analysis/track_speed_filter_fast/tool.ts'
import trackStats from './tools/track-analysis/track_stats/tool.ts'
import zoneTransits from './tools/track-analysis/zone_transits/tool.ts'
import viewportGridGenerator from './tools/viewport/viewport_grid_generator/tool.ts'
import type { AnyVaultTool } from './vault-tool.ts'

/** In the order in which they are listed. */
export const shelf: readonly AnyVaultTool[] = [
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
]

/** A tool by its name. */
export const toolNamed = (name: string): AnyVaultTool | undefined => shelf.find((tool) => tool.name === name)
