import type { ErrorCode, ErrorData } from '@causeway/protocol'
import type { RecorderMethods } from './recorder/recorder-methods.ts'
import type {
  BodyEnergyField,
  BodyId,
  Columns,
  Frame,
  FrameRange,
  PairFrame,
  RecordingSummary,
  SolverField,
  SystemEnergyField,
} from './types.ts'

/** What a worker does, by name: arguments and answer, both structured-cloneable. */
export interface WorkerMethods extends RecorderMethods {
  /** Copies a foreign file to `part`, checks it, and moves it to `<folder>/<key>.db`. Reports progress. */
  readonly copy: (args: {
    readonly source: string
    readonly folder: string
    readonly indexAtOnceBytes: number
  }) => { readonly key: string; readonly bytes: number }
  /** Opens a private copy; `path` is the user's file, for messages. */
  readonly open: (args: { readonly file: string; readonly path: string }) => {
    readonly summary: RecordingSummary
    readonly isIndexed: boolean
  }
  /** The summary of a run that grows while it is read; later answers know of the frames it counts. */
  readonly reread: () => RecordingSummary
  /** Checks and indexes a large private copy that another worker is reading. */
  readonly finish: (args: { readonly file: string; readonly path: string }) => undefined
  /** Looks for indexes that were built behind. */
  readonly refresh: () => undefined
  readonly frame: (args: { readonly frame: number }) => Frame
  readonly systemEnergy: (args: { readonly range: FrameRange }) => Columns<SystemEnergyField>
  readonly bodyEnergy: (args: {
    readonly body: BodyId
    readonly range: FrameRange
  }) => Columns<BodyEnergyField>
  readonly solver: (args: { readonly range: FrameRange }) => Columns<SolverField>
  readonly pairHistory: (args: {
    readonly pair: readonly [BodyId, BodyId]
    readonly range: FrameRange
    readonly limit: number
  }) => { readonly frames: readonly PairFrame[]; readonly total_frames: number }
  /** Runs an analysis that the worker's entry brought; see `serveRecording`. */
  readonly analyse: (args: { readonly name: string; readonly args: unknown }) => unknown
  /** Closes the private copy; the worker then ends. */
  readonly stop: () => undefined
}

/** Name of a method. */
export type WorkerMethod = keyof WorkerMethods

/** Arguments of a method. */
export type ArgsOf<Method extends WorkerMethod> = Parameters<WorkerMethods[Method]>[0]

/** Answer of a method. */
export type AnswerOf<Method extends WorkerMethod> = ReturnType<WorkerMethods[Method]>

/** From the main thread. */
export type Request =
  | { readonly id: number; readonly method: WorkerMethod; readonly args: unknown }
  | { readonly id: number; readonly cancel: true }

/** An error on its way between threads: classes do not survive the clone. */
export interface CarriedError {
  /** null where the error is not one for clients; `text` is then its stack, for the log */
  readonly code: ErrorCode | null
  readonly message: string
  readonly remedy?: string
  readonly data: ErrorData
  readonly text?: string
}

/** From the worker. */
export type Reply =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly error: CarriedError }
  | { readonly id: number; readonly progress: readonly [done: number, total: number, message: string] }
