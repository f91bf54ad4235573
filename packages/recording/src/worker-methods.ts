import type { AnswerOf, ArgsOf, MethodName } from '@causeway/worker'
import type {
  BodyEnergyField,
  BodyId,
  Columns,
  Foreseen,
  Frame,
  FrameRange,
  PairFrame,
  RecordingSummary,
  SolverField,
  SystemEnergyField,
  TableColumns,
} from './types.ts'

/** What a worker does, by name: arguments and answer, both structured-cloneable. */
export interface WorkerMethods {
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
  /** Lets other threads go first from now on: nobody waits for what this worker does. */
  readonly stepBack: () => undefined
  /** Checks and indexes a large private copy that another worker is reading. */
  readonly finish: (args: { readonly file: string; readonly path: string }) => undefined
  /** Writes the columns of the copy that is open into this file, and reads from it from then on. */
  readonly columns: (args: { readonly file: string }) => Promise<undefined>
  /** The answer to a question that a file beside a copy keeps, in a list; an empty one where it has none. */
  readonly recall: (args: {
    readonly file: string
    readonly question: Foreseen
  }) => readonly [answer?: unknown]
  /** Finds an answer and keeps it in a file beside the copy. */
  readonly foresee: (args: { readonly file: string; readonly question: Foreseen }) => unknown
  /** Looks for indexes and columns that were made behind. */
  readonly refresh: () => undefined
  readonly tables: () => readonly TableColumns[]
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
  /** Runs an analysis that the worker's entry brought, unless its answer is kept beside the copy; see `serveRecording`. */
  readonly analyse: (args: Foreseen & { readonly isKept: boolean }) => unknown
}

/** Name of a method. */
export type WorkerMethod = MethodName<WorkerMethods>

/** Arguments of a method. */
export type WorkerArgs<Method extends WorkerMethod> = ArgsOf<WorkerMethods, Method>

/** Answer of a method. */
export type WorkerAnswer<Method extends WorkerMethod> = AnswerOf<WorkerMethods, Method>
