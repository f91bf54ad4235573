import { existsSync } from 'node:fs'
import { rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isCausewayError } from '@causeway/protocol'
import { classifyFailure, findFileLimit, StoreError } from '@causeway/store'
import { type Call, type Handlers, lowerThreadPriority, serve } from '@causeway/worker'
import { RecordingError } from '../errors.ts'
import { AnswersFile, getAnswersFilePath, hashSources } from '../formats/answers-file.ts'
import { copyDatabase, removeCopy } from '../library/copy.ts'
import { createStateKey } from '../library/file-state.ts'
import { isFrameFile } from '../library/frame-file.ts'
import { finishCopy, prepareCopy } from '../library/prepare.ts'
import { isImported, readSourceFile } from '../library/source-file.ts'
import type { AnalysisRequest, RecordingSummary } from '../types.ts'
import { openReader } from './open-reader.ts'
import type { Reader } from './reader.ts'
import type { Windows } from './windows.ts'
import type { WorkerAnswer, WorkerArgs, WorkerMethods } from './worker-methods.ts'

export interface AnalysisContext extends Call {
  readonly summary: RecordingSummary
  readonly reader: Pick<
    Reader,
    'frame' | 'pairHistory' | 'systemEnergy' | 'bodyEnergy' | 'solver' | 'extents' | 'outlines'
  >
  readonly windows: Windows
}

/** Analyses by name. Arguments and results are structured-cloneable. */
export type Analyses = Readonly<
  Record<string, (args: never, context: AnalysisContext) => unknown | Promise<unknown>>
>

/**
 * Serves one recording at a time. `sources` are the folders of the analyses: if their files change, stored answers
 * become invalid.
 */
export function serveRecording(analyses: Analyses = {}, sources: readonly URL[] = []): void {
  const { handlers, close } = new RecordingSession(analyses, sources)
  serve<WorkerMethods>(handlers, {
    failure: 'reading the recording failed',
    close,
    transfer: getTransferable,
  })
}

class RecordingSession {
  readonly #analyses: Analyses
  readonly #sources: readonly URL[]
  #reader: Reader | undefined
  #summary: RecordingSummary | undefined
  #windows: Windows | undefined
  #path = ''
  #copy = ''

  constructor(analyses: Analyses, sources: readonly URL[]) {
    this.#analyses = analyses
    this.#sources = [new URL('..', import.meta.url), ...sources]
  }

  readonly handlers: Handlers<WorkerMethods> = {
    copy: copyAndPrepare,
    open: ({ file, path }) => {
      this.close()
      this.#path = path
      this.#copy = file
      return convertErrors(path, () => {
        const reader = openReader(file)
        this.#reader = reader
        this.#summary = reader.summary()
        return { summary: this.#summary, isIndexed: reader.isIndexed() }
      })
    },
    reread: () =>
      this.#read((reader) => {
        this.#windows = undefined
        this.#summary = reader.summary()
        return this.#summary
      }),
    finish: ({ file, path }) => convertErrors(path, () => void finishCopy(file)),
    columns: async ({ file }, { signal, progress }) => {
      await this.#read((reader) => reader.writeColumns(file, { signal, progress }))
      return this.#refresh()
    },
    refresh: () => this.#refresh(),
    lowerPriority: () => void lowerThreadPriority(),
    tables: () => this.#read((reader) => reader.tables()),
    frame: ({ frame }) => this.#read((reader) => reader.frame(frame)),
    systemEnergy: ({ range }) => this.#read((reader) => reader.systemEnergy(range)),
    bodyEnergy: ({ body, range }) => this.#read((reader) => reader.bodyEnergy(body, range)),
    solver: ({ range }) => this.#read((reader) => reader.solver(range)),
    pairHistory: ({ pair, range, limit }) => this.#read((reader) => reader.pairHistory(pair, range, limit)),
    analyse: ({ isCached, ...request }, call) => {
      const file = getAnswersFilePath(this.#copy)
      const answer = isCached && existsSync(file) ? this.#openAnswers(file).find(request) : []
      return answer.length === 0 ? this.#analyse(request, call) : answer[0]
    },
    findAnswer: ({ file, request }) => this.#openAnswers(file).find(request),
    prepareAnalysis: async ({ file, request }, call) => {
      const answer = await this.#analyse(request, call)
      this.#openAnswers(file).add(request, answer)
      return answer
    },
  }

  readonly close = (): void => {
    this.#reader?.close()
    this.#reader = undefined
    this.#windows = undefined
  }

  #read<Answer>(read: (reader: Reader) => Answer): Answer {
    const reader = this.#reader
    if (!reader) throw new Error('no private copy is open in this worker')
    return convertErrors(this.#path, () => read(reader))
  }

  #refresh(): undefined {
    this.#windows = undefined
    this.#read((reader) => reader.refresh())
  }

  #openAnswers(file: string): AnswersFile {
    return new AnswersFile(file, hashSources(this.#sources))
  }

  async #analyse({ name, args }: AnalysisRequest, call: Call): Promise<unknown> {
    const analysis = this.#analyses[name] as
      | ((args: unknown, context: AnalysisContext) => unknown | Promise<unknown>)
      | undefined
    const [reader, summary] = [this.#reader, this.#summary]
    if (analysis === undefined || reader === undefined || summary === undefined)
      throw new Error(`this worker has no analysis ${name} or no recording`)
    this.#windows ??= reader.windows(summary)
    try {
      return await analysis(args, { ...call, summary, reader, windows: this.#windows })
    } catch (error) {
      throw toRecordingError(error, this.#path)
    }
  }
}

/** The key identifies the state before the copy. The file may grow meanwhile. */
async function copyAndPrepare(
  { source, mapping, folder, maxForegroundIndexBytes }: WorkerArgs<'copy'>,
  call: Call,
): Promise<WorkerAnswer<'copy'>> {
  const partFile = join(folder, `${crypto.randomUUID()}.part`)
  try {
    let { key } = await readSourceFile(source, { requestedMapping: mapping })
    let notes: readonly string[] | null = null
    if (await isImported(source)) {
      const { importFile } = await import('../imports/import-file.ts')
      notes = await importFile(source, partFile, { mapping, scratch: folder }, call)
    } else if (isFrameFile(source)) {
      const { convertFrameFile } = await import('../library/convert.ts')
      await convertFrameFile(source, partFile, call)
    } else {
      const state = await copyDatabase(source, partFile, {
        signal: call.signal,
        progress: (done, total) => call.progress(done, total, 'copying'),
      })
      key = createStateKey(source, state)
      prepareCopy(partFile, state.size > maxForegroundIndexBytes)
    }
    const file = join(folder, `${key}.db`)
    await rename(partFile, file)
    const { size } = await stat(file)
    return { key, bytes: size, notes }
  } catch (error) {
    await removeCopy(partFile)
    throw toRecordingError(error, source)
  }
}

function convertErrors<Answer>(path: string, read: () => Answer): Answer {
  try {
    return read()
  } catch (error) {
    throw toRecordingError(error, path)
  }
}

/** Converts SQLite and file system errors; `path` is the user's file. */
function toRecordingError(error: unknown, path: string): unknown {
  if (isCausewayError(error)) return error
  const options = { data: { path }, cause: error }
  switch (classifyFailure(error)) {
    case 'not-a-database':
      return new RecordingError('NOT_A_DATABASE', `the file is not an SQLite database: ${path}`, options)
    case 'damaged':
      return new RecordingError('RECORDING_DAMAGED', `the recording is damaged: ${path}`, options)
    case 'unwritable':
      return (
        findFileLimit(error) ??
        new StoreError('DATA_UNWRITABLE', 'the private copy of the recording cannot be written', options)
      )
    default:
      return error
  }
}

/** Returns the buffers of columns, which are transferred instead of cloned. */
function getTransferable(answer: unknown): readonly ArrayBuffer[] {
  const data = (answer as { readonly data?: unknown } | undefined)?.data
  return data instanceof Float64Array && data.buffer instanceof ArrayBuffer ? [data.buffer] : []
}
