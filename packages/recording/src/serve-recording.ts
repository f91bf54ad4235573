import { existsSync } from 'node:fs'
import { rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Call, type HandlersOf, serve, stepBack } from '@causeway/worker'
import { answersFile, answersFileOf, revisionOf } from './answers-file.ts'
import { copyDatabase, removeCopy } from './copy.ts'
import { stateKey } from './file-state.ts'
import { finishCopy, prepareCopy } from './prepare.ts'
import { openReader } from './reader.ts'
import type { Reader } from './reader-contract.ts'
import { recordingFailure } from './recording-failure.ts'
import type { Foreseen, RecordingSummary } from './types.ts'
import type { Windows } from './windows.ts'
import type { WorkerMethods } from './worker-methods.ts'

/** What an analysis works with: it runs in the worker that has the recording open. */
export interface AnalysisContext extends Call {
  readonly summary: RecordingSummary
  readonly reader: Pick<
    Reader,
    'frame' | 'pairHistory' | 'systemEnergy' | 'bodyEnergy' | 'solver' | 'extents'
  >
  /** Columns of the whole recording, read when they are first needed. */
  readonly windows: Windows
}

/** Analyses by name. Arguments and answers are structured-cloneable; what one throws reaches the caller of `analyse`. */
export type Analyses = Readonly<
  Record<string, (args: never, context: AnalysisContext) => unknown | Promise<unknown>>
>

/**
 * Serves one recording to the library that started this worker; the entry file of a worker calls it once. The worker
 * copies or reads one recording at a time. `sources` are the folders of what the analyses depend on: answers that are
 * kept on disk are found anew once a file below them has changed.
 */
export function serveRecording(analyses: Analyses = {}, sources: readonly URL[] = []): void {
  const { handlers, close } = methods(analyses, sources)
  serve<WorkerMethods>(handlers, { failure: 'reading the recording failed', close, moved: buffersOf })
}

function methods(
  analyses: Analyses,
  sources: readonly URL[],
): {
  readonly handlers: HandlersOf<WorkerMethods>
  readonly close: () => void
} {
  let reader: Reader | undefined
  let summary: RecordingSummary | undefined
  let windows: Windows | undefined
  let path = ''
  let copy = ''
  const reading = <Answer>(read: (reader: Reader) => Answer): Answer => {
    if (!reader) throw new Error('no private copy is open in this worker')
    return readable(path, () => read(reader as Reader))
  }
  const refresh = (): undefined =>
    reading((open) => {
      windows = undefined
      open.refresh()
      return undefined
    })
  const analyse = async ({ name, args }: Foreseen, call: Call): Promise<unknown> => {
    const analysis = analyses[name] as
      | ((args: unknown, context: AnalysisContext) => unknown | Promise<unknown>)
      | undefined
    if (analysis === undefined || reader === undefined || summary === undefined)
      throw new Error(`this worker has no analysis ${name} or no recording`)
    windows ??= reader.windows(summary)
    try {
      return await analysis(args, { ...call, summary, reader, windows })
    } catch (error) {
      throw recordingFailure(error, path)
    }
  }
  const revision = (): string => revisionOf([new URL('.', import.meta.url), ...sources])
  const handlers: HandlersOf<WorkerMethods> = {
    copy: ({ source, folder, indexAtOnceBytes }, call) =>
      copyAndPrepare(source, folder, indexAtOnceBytes, call),
    open(args) {
      path = args.path
      copy = args.file
      return readable(path, () => {
        reader = openReader(args.file)
        summary = reader.summary()
        return { summary, isIndexed: reader.isIndexed() }
      })
    },
    reread: () =>
      reading((open) => {
        windows = undefined
        summary = open.summary()
        return summary
      }),
    finish: ({ file, path }) => readable(path, () => void finishCopy(file)),
    async columns({ file }, { signal, progress }) {
      await reading((open) => open.writeColumns(file, { signal, progress }))
      refresh()
      return undefined
    },
    refresh,
    stepBack: () => void stepBack(),
    tables: () => reading((open) => open.tables()),
    frame: ({ frame }) => reading((open) => open.frame(frame)),
    systemEnergy: ({ range }) => reading((open) => open.systemEnergy(range)),
    bodyEnergy: ({ body, range }) => reading((open) => open.bodyEnergy(body, range)),
    solver: ({ range }) => reading((open) => open.solver(range)),
    pairHistory: ({ pair, range, limit }) => reading((open) => open.pairHistory(pair, range, limit)),
    analyse({ isKept, ...question }, call) {
      const answers = answersFileOf(copy)
      const found = isKept && existsSync(answers) ? answersFile(answers, revision()).find(question) : []
      return found.length === 0 ? analyse(question, call) : found[0]
    },
    recall: ({ file, question }) => answersFile(file, revision()).find(question),
    async foresee({ file, question }, call) {
      const answer = await analyse(question, call)
      answersFile(file, revision()).keep(question, answer)
      return answer
    },
  }
  const close = (): void => {
    reader?.close()
    reader = undefined
  }
  return { handlers, close }
}

async function copyAndPrepare(source: string, folder: string, indexAtOnceBytes: number, call: Call) {
  const part = join(folder, `${crypto.randomUUID()}.part`)
  try {
    const state = await copyDatabase(source, part, {
      signal: call.signal,
      progress: (done, total) => call.progress(done, total, 'copying'),
    })
    prepareCopy(part, state.size > indexAtOnceBytes)
    const key = stateKey(source, state)
    const file = join(folder, `${key}.db`)
    // Renamed when whole and closed: a file of this name is never half a copy.
    await rename(part, file)
    const { size } = await stat(file)
    return { key, bytes: size }
  } catch (error) {
    await removeCopy(part)
    throw recordingFailure(error, source)
  }
}

function readable<Answer>(path: string, read: () => Answer): Answer {
  try {
    return read()
  } catch (error) {
    throw recordingFailure(error, path)
  }
}

/** Columns are moved and not cloned. */
function buffersOf(answer: unknown): readonly ArrayBuffer[] {
  const data = (answer as { readonly data?: unknown } | undefined)?.data
  return data instanceof Float64Array && data.buffer instanceof ArrayBuffer ? [data.buffer] : []
}
