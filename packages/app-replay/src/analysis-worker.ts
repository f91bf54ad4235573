import { type Analyses, serveRecording } from '@causeway/recording/worker'
import { findBodyNames } from './analysis/body-names.ts'
import { checkFrames } from './analysis/check-frames.ts'
import { findEvents, findStalls } from './analysis/events.ts'
import { readFrameColumns } from './analysis/frame-columns.ts'
import { findGeometry } from './analysis/geometry.ts'
import { readPoses } from './analysis/poses.ts'
import { sampleSeries, sampleTrajectory } from './analysis/sampled-series.ts'
import { readSeries, searchFrames } from './analysis/series.ts'

const analyses: Analyses = {
  bodyNames: findBodyNames,
  checkFrames,
  events: findEvents,
  frameColumns: readFrameColumns,
  geometry: findGeometry,
  poses: readPoses,
  sampledSeries: sampleSeries,
  search: searchFrames,
  series: readSeries,
  stalls: findStalls,
  trajectory: sampleTrajectory,
}

serveRecording(analyses, [new URL('.', import.meta.url)])
