export { backup, type CopyOptions, restore } from './backup.ts'
export { dataFailure, type FailureKind, failureKind } from './failure.ts'
export { appliedMigrations, type Migration } from './migrate.ts'
export { type OpenOptions, openDatabase } from './open.ts'
