import type { MethodArgs, MethodResult } from '@causeway/worker'
import type {
  AnalysisRequest,
  BodyEnergyField,
  BodyId,
  Columns,
  Frame,
  FrameRange,
  PairFrame,
  RecordingSummary,
  SolverField,
  SystemEnergyField,
  TableColumns,
} from '../types.ts'

export interface WorkerMethods {
  /** Copies or imports a foreign file to `<folder>/<key>.db`. `notes` is null if the file was copied. */
  readonly copy: (args: {
    readonly source: string
    readonly mapping: string | undefined
    readonly folder: string
    readonly maxForegroundIndexBytes: number
  }) => { readonly key: string; readonly bytes: number; readonly notes: readonly string[] | null }
  /** Opens a private copy. `path` is the user's file, for error messages. */
  readonly open: (args: { readonly file: string; readonly path: string }) => {
    readonly summary: RecordingSummary
    readonly isIndexed: boolean
  }
  /** Returns the current summary of a growing run. Later calls include its new frames. */
  readonly reread: () => RecordingSummary
  readonly lowerPriority: () => undefined
  readonly finish: (args: { readonly file: string; readonly path: string }) => undefined
  readonly columns: (args: { readonly file: string }) => Promise<undefined>
  readonly findAnswer: (args: {
    readonly file: string
    readonly request: AnalysisRequest
  }) => readonly [answer?: unknown]
  readonly prepareAnalysis: (args: { readonly file: string; readonly request: AnalysisRequest }) => unknown
  /** Detects indexes and columns that another worker wrote. */
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
  /** Runs an analysis of `serveRecording`, or returns its stored answer. */
  readonly analyse: (args: AnalysisRequest & { readonly isCached: boolean }) => unknown
}

export type WorkerMethod = keyof WorkerMethods

export type WorkerArgs<Method extends WorkerMethod> = MethodArgs<WorkerMethods, Method>

export type WorkerAnswer<Method extends WorkerMethod> = MethodResult<WorkerMethods, Method>
