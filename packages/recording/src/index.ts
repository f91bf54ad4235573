export { catalogueMigrations } from './catalogue.ts'
export { type LibraryLimits, type LibraryOptions, libraryDefaults, openLibrary } from './library.ts'
export type { Listing, OpenCall, RecordingLibrary, Roots } from './library-types.ts'
export type { LibraryLog } from './log.ts'
export { type FriendlyView, friendlyViews } from './query/friendly-views.ts'
export type { SqlAnswer, SqlQuestion, SqlValue } from './query/query-types.ts'
export type { Recorded, Recorder, RecorderLimits, RunState } from './recorder/recorder-types.ts'
export { type RunStatus, runMigrations } from './recorder/run-schema.ts'
export type {
  AnalyseCall,
  Body,
  BodyEnergy,
  BodyEnergyField,
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
  Foreseen,
  Frame,
  FrameRange,
  FrameSpan,
  FrictionConstraint,
  LambdaUnit,
  PairFrame,
  Quaternion,
  Recording,
  RecordingIdentity,
  RecordingSummary,
  Solver,
  SolverField,
  SystemEnergy,
  SystemEnergyField,
  Value,
  Vector,
} from './types.ts'
export {
  collisionAt,
  constraintAt,
  energyAt,
  externalAt,
  type FlatRows,
  type FrameWindow,
  frictionAt,
  solverAt,
  stateAt,
  systemAt,
} from './window-types.ts'
export type { WindowCall, Windows } from './windows.ts'
