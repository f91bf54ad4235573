export { environmentBit, isEnvironmentId } from './domain/body-id.ts'
export { median } from './domain/median.ts'
export { RecordingError } from './errors.ts'
export {
  type ColumnSelection,
  collisionAt,
  constraintAt,
  energyAt,
  externalAt,
  type FlatRows,
  type FrameWindow,
  frictionAt,
  jointAt,
  jointKinds,
  solverAt,
  stateAt,
  systemAt,
  type WindowPart,
} from './formats/frame-window.ts'
export { runMigrations } from './formats/run-schema.ts'
export { ClickHouseLake } from './lake/clickhouse-lake.ts'
export { DuckDbLake } from './lake/duckdb-lake.ts'
export { type LakeQuestion, lakeQuestions } from './lake/lake-questions.ts'
export type { LakeAnswer, LakeQuery, LakeRun } from './lake/lake-types.ts'
export { catalogueMigrations } from './library/catalogue.ts'
export { type LibraryLimits, libraryDefaults, openLibrary, RecordingLibrary } from './library/library.ts'
export type { Listing, OpenOptions, OpenResult, Roots } from './library/library-types.ts'
export {
  type RunSummaries,
  type RunSummary,
  type RunVerdict,
  type WorstValues,
  worstFields,
} from './library/run-summaries.ts'
export { friendlyViews } from './reader/query/friendly-views.ts'
export type { SqlQuery, SqlResult } from './reader/query/query-types.ts'
export type { Recorder, RunState } from './recorder/recorder.ts'
export type {
  AnalyseOptions,
  AnalysisRequest,
  Body,
  BodyEnergy,
  BodyEnergyField,
  BodyGeometry,
  BodyId,
  BodyState,
  Capability,
  Collision,
  Columns,
  ContactConstraint,
  ContactPoint,
  EnvironmentBody,
  Era,
  ExternalForce,
  Frame,
  FrameRange,
  FrictionConstraint,
  Joint,
  JointKind,
  LambdaUnit,
  PairFrame,
  Provenance,
  Quaternion,
  Recording,
  RecordingIdentity,
  RecordingSummary,
  Shape,
  Solver,
  SolverField,
  SystemEnergy,
  SystemEnergyField,
  Value,
  Vector,
} from './types.ts'
