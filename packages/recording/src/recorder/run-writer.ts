import type { CausewayError } from '@causeway/protocol'
import { OpenFile, openDatabase, StoreError, toDataError } from '@causeway/store'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import { isEnvironmentId } from '../domain/body-id.ts'
import { RecordingError } from '../errors.ts'
import { solverFields, systemEnergyFields } from '../formats/fields.ts'
import { solverAt } from '../formats/frame-window.ts'
import { isEnvironmentBody } from '../formats/lines/frame-bodies.ts'
import type { Line } from '../formats/lines/line-reader.ts'
import { mergeRun, type RunBody, type RunContext, type RunFacts } from '../formats/lines/run-line.ts'
import {
  bodyAt,
  bodyWidth,
  listSolver,
  listSystem,
  type PackedFrame,
  type SolverRow,
  toBytes,
  unknownConvergence,
  unpackContacts,
} from '../formats/packed-frame.ts'
import {
  bodyColumns,
  contactDataColumn,
  type RunStatus,
  readFacts,
  runMigrations,
} from '../formats/run-schema.ts'
import { SlabAllocator } from './number-buffers.ts'
import { isSameFrame } from './same-frame.ts'

export interface RunProgress {
  readonly status: RunStatus
  readonly total_frames: number
  readonly first_frame_id: number | null
  /** Last stored frame. New ids are greater. */
  readonly last_frame_id: number | null
  /** Bytes of frame blocks stored since the file was opened. */
  readonly stored_bytes: number
}

/** Large pages store long streams faster, but each flush writes more, and the smallest run takes 0.5 MB. */
const pageBytes = { usual: 16_384, large: 65_536 } as const

/** Minimum size of the lines of a run that gets large pages. */
const largeBytes = 8 * 1024 ** 2

/** Log size at which the writer itself checkpoints. Larger than the limit of `LogCheckpoints`. */
const checkpointBytes = 128 * 1024 ** 2

const batchBytes = 4 * 1024 ** 2

/** Opens or creates a run file of at most `bytes` bytes. `expectedBytes` is the size of a new run's first lines. */
export function openRunWriter(
  file: string,
  nowMs: number,
  { bytes, expectedBytes = 0 }: { readonly bytes?: number; readonly expectedBytes?: number } = {},
): RunWriter {
  const page = expectedBytes >= largeBytes ? pageBytes.large : pageBytes.usual
  const db = openDatabase(file, { migrations: runMigrations, pageBytes: page, now: () => nowMs })
  try {
    const size = db.pragma('page_size', { simple: true }) as number
    // If a flush did not fit into the cache, SQLite would write some pages twice.
    db.pragma(`cache_size = ${-(4 * batchBytes) / 1024}`)
    db.pragma(`wal_autocheckpoint = ${Math.round(checkpointBytes / size)}`)
    if (bytes !== undefined) db.pragma(`max_page_count = ${Math.max(1, Math.floor(bytes / size))}`)
    return new RunWriter(db, file, { nowMs, limitBytes: bytes })
  } catch (error) {
    db.close()
    throw toDataError(error, file)
  }
}

/** Copies committed pages to the file, even while another thread writes. Returns the size of the log. */
export function checkpointRun(file: string): number {
  const db = new BetterSqlite3(file, { fileMustExist: true })
  try {
    const [{ log }] = db.pragma('wal_checkpoint(PASSIVE)') as [{ readonly log: number }]
    return log * (db.pragma('page_size', { simple: true }) as number)
  } finally {
    db.close()
  }
}

/** SQLite reports the same error for a full disk and for a run that reached its limit. */
function toWriteError(error: unknown, file: string, limitBytes: number | undefined): unknown {
  const dataError = toDataError(error, file)
  if (limitBytes === undefined || (error as { code?: unknown }).code !== 'SQLITE_FULL') return dataError
  const { message, data, cause } = dataError as CausewayError
  return new StoreError('DATA_UNWRITABLE', message, {
    data: { ...data, limit_bytes: limitBytes },
    remedy: `free disk space; a run has at most ${limitBytes} bytes: record a shorter one, or raise CAUSEWAY_RECORDINGS_CAP_BYTES`,
    cause,
  })
}

const noSystem = new Array<null>(systemEnergyFields.length).fill(null)
const listStoredSolver = (solver: SolverRow): readonly number[] =>
  listSolver(solver).map((value, at) =>
    at === solverAt.converged && Number.isNaN(value) ? unknownConvergence : value,
  )

const noSolver = new Array<null>(solverFields.length).fill(null)

const toJson = (value: object | null): string | null => value && JSON.stringify(value)

interface RunRow {
  readonly status: RunStatus
  readonly total_frames: number
  readonly first_frame: number | null
  readonly last_frame: number | null
  readonly has_contact_data: number
}

const prepareStatements = (db: Database) => ({
  readRun: db.prepare<[], RunRow>(
    `SELECT status, total_frames, first_frame, last_frame, ${contactDataColumn} AS has_contact_data FROM run`,
  ),
  readAppearances: db
    .prepare<[], [number, number]>('SELECT body_id, first_frame FROM body WHERE first_frame IS NOT NULL')
    .raw(),
  readEnergy: db
    .prepare<[], number | null>(
      'SELECT total_e FROM frame WHERE energy_injection IS NOT NULL ORDER BY id DESC LIMIT 1',
    )
    .pluck(),
  saveRun: db.prepare(
    `UPDATE run SET status = @status, updated_ms = @nowMs, engine = @engine, dt = @dt, gravity_x = @x, gravity_y = @y,
     gravity_z = @z, lambda_unit = @lambdaUnit, total_frames = @total, first_frame = @first, last_frame = @last,
     ${contactDataColumn} = @hasContactData, convention = @convention, substeps = @substeps,
     provenance = @provenance`,
  ),
  saveBody: db.prepare(
    `INSERT INTO body (${bodyColumns.join(', ')}) VALUES (${bodyColumns.map(() => '?').join(', ')})
     ON CONFLICT (body_id) DO UPDATE SET ${bodyColumns.map((name) => `${name} = excluded.${name}`).join(', ')}`,
  ),
  saveFrame: db.prepare('INSERT INTO frame VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'),
  saveBlock: db.prepare('INSERT INTO block (frame_id, contacts, bodies, joints) VALUES (?, ?, ?, ?)'),
  findFrame: db
    .prepare<[number], [number | null, Buffer, Buffer | null, Buffer | null]>(
      'SELECT f.time, b.bodies, b.contacts, b.joints FROM frame f JOIN block b ON b.frame_id = f.id WHERE f.id = ?',
    )
    .raw(),
})

type Statements = ReturnType<typeof prepareStatements>

interface OpenRun {
  status: RunStatus
  facts: RunFacts
  bodies: ReadonlyMap<number, RunBody>
  readonly firstFrameById: Map<number, number>
  readonly changedBodyIds: Set<number>
  isDirty: boolean
  hasContactData: boolean
  total: number
  first: number | null
  last: number | null
  /** Total energy of the last frame in J; NaN before the first one. */
  energy: number
}

/** The only writer of its file. Synchronous, because it runs in a worker. */
export class RunWriter {
  readonly context: RunContext
  readonly #db: Database
  readonly #file: string
  readonly #limitBytes: number | undefined
  readonly #openFile: OpenFile
  readonly #statements: Statements
  readonly #storeAll: (nowMs: number) => void
  readonly #slabs = new SlabAllocator()
  #run: OpenRun
  #pending: PackedFrame[] = []
  #pendingBytes = 0
  #storedBytes = 0
  #stored: RunProgress

  constructor(
    db: Database,
    file: string,
    { nowMs, limitBytes }: { readonly nowMs: number; readonly limitBytes: number | undefined },
  ) {
    db.prepare(
      `INSERT INTO run (id, status, updated_ms, total_frames) VALUES (1, 'live', ?, 0) ON CONFLICT DO NOTHING`,
    ).run(nowMs)
    this.#db = db
    this.#file = file
    this.#limitBytes = limitBytes
    this.#openFile = new OpenFile(file)
    this.#statements = prepareStatements(db)
    this.#storeAll = db.transaction((now: number) => this.#store(now)).immediate
    this.#run = this.#load()
    this.#stored = this.#describe()
    const getRun = () => this.#run
    this.context = {
      get constants() {
        return getRun().facts
      },
      get bodies() {
        return getRun().bodies
      },
      isKnown: (id) => this.#run.firstFrameById.has(id),
      getPreviousEnergy: () => this.#run.energy,
      allocate: (length) => this.#slabs.allocate(length),
    }
  }

  get stored(): RunProgress {
    return this.#stored
  }

  add(line: Line, nowMs: number): boolean {
    if ('run' in line) {
      this.addRun(line.run)
      return true
    }
    const isNew = this.addFrame(line.frame, nowMs)
    if (line.hasContactData) this.markContactData()
    return isNew
  }

  addRun(facts: RunFacts): void {
    const run = this.#run
    const isEmpty = run.total === 0 && run.facts.bodies.length === 0 && run.facts.gravity === null
    if (!isEmpty && toJson(facts.convention) !== toJson(run.facts.convention))
      throw new RecordingError('FRAME_CONFLICT', 'the convention differs from that of earlier lines', {
        remedy: 'declare the convention in the first run line',
        data: { what: 'convention' },
      })
    run.facts = mergeRun(run.facts, facts)
    for (const body of facts.bodies) if (!run.bodies.has(body.id)) run.changedBodyIds.add(body.id)
    run.bodies = new Map(run.facts.bodies.map((body) => [body.id, body]))
    run.isDirty = true
  }

  /** Returns `false` if the same frame is already stored. */
  addFrame(frame: PackedFrame, nowMs: number): boolean {
    const run = this.#run
    if (run.last !== null && frame.id <= run.last) {
      this.#requireSame(frame, nowMs)
      return false
    }
    if (run.status === 'finished')
      throw new RecordingError('RECORDING_FINISHED', 'the recording is finished', {
        data: { last_frame_id: run.last },
      })
    for (let at = 0; at < frame.bodies.length; at += bodyWidth)
      this.#addAppearance(frame.bodies[at + bodyAt.id] ?? 0, frame.id)
    if (frame.contacts !== null) this.#addContacts(frame.contacts, frame.id)
    this.#pending.push(frame)
    const { bodies, contacts, joints } = frame
    this.#pendingBytes += bodies.byteLength + (contacts?.byteLength ?? 0) + (joints?.byteLength ?? 0)
    run.total += 1
    run.first ??= frame.id
    run.last = frame.id
    run.energy = frame.system?.total ?? run.energy
    run.isDirty = true
    if (this.#pendingBytes >= batchBytes) this.flush(nowMs)
    return true
  }

  markContactData(): void {
    if (this.#run.hasContactData) return
    this.#run.hasContactData = true
    this.#run.isDirty = true
  }

  /** Stores pending frames in one transaction. If it throws, the state of the last flush is restored. */
  flush(nowMs: number): RunProgress {
    if (!this.#run.isDirty) {
      this.#slabs.clear()
      return this.#stored
    }
    try {
      this.#openFile.requireInPlace()
      this.#storeAll(nowMs)
      this.#run.changedBodyIds.clear()
      this.#run.isDirty = false
      this.#storedBytes += this.#pendingBytes
    } catch (error) {
      this.#run = this.#load()
      this.#stored = this.#describe()
      throw toWriteError(error, this.#file, this.#limitBytes)
    } finally {
      this.#pending = []
      this.#pendingBytes = 0
      this.#slabs.clear()
    }
    this.#stored = this.#describe()
    return this.#stored
  }

  setStatus(status: RunStatus, nowMs: number): RunProgress {
    this.flush(nowMs)
    this.#run.status = status
    this.#run.isDirty = true
    return this.flush(nowMs)
  }

  close(): void {
    this.#db.close()
  }

  #describe(): RunProgress {
    const { status, total, first, last } = this.#run
    const frames = { total_frames: total, first_frame_id: first, last_frame_id: last }
    return { status, ...frames, stored_bytes: this.#storedBytes }
  }

  #load(): OpenRun {
    const { readRun, readAppearances, readEnergy } = this.#statements
    const row = readRun.get()
    if (row === undefined) throw new Error('the run file has no run row')
    const facts = readFacts(this.#db)
    return {
      status: row.status,
      facts,
      bodies: new Map(facts.bodies.map((body) => [body.id, body])),
      firstFrameById: new Map(readAppearances.all()),
      changedBodyIds: new Set(),
      isDirty: false,
      hasContactData: row.has_contact_data === 1,
      total: row.total_frames,
      first: row.first_frame,
      last: row.last_frame,
      energy: readEnergy.get() ?? Number.NaN,
    }
  }

  #store(nowMs: number): void {
    for (const id of this.#run.changedBodyIds) this.#storeBody(id)
    for (const frame of this.#pending) this.#storeFrame(frame)
    const { facts, status, total, first, last } = this.#run
    const [x, y, z] = facts.gravity ?? [null, null, null]
    const { engine, dt, lambdaUnit, substeps } = facts
    const hasContactData = Number(this.#run.hasContactData)
    const [convention, provenance] = [toJson(facts.convention), toJson(facts.provenance)]
    const constants = { engine, dt, x, y, z, lambdaUnit, hasContactData, convention, substeps, provenance }
    this.#statements.saveRun.run({ status, nowMs, total, first, last, ...constants })
  }

  #storeBody(id: number): void {
    const body = this.#run.bodies.get(id)
    const numbers = body
      ? [body.mass, body.restitution, body.friction, body.asset, ...body.inertia, ...body.extents]
      : new Array(bodyColumns.length - 4).fill(null)
    const values = [...numbers, body ? JSON.stringify(body.details) : null]
    this.#statements.saveBody.run(id, body ? 1 : 0, ...values, this.#run.firstFrameById.get(id) ?? null)
  }

  #storeFrame({ id, time, wallTime, bodies, contacts, joints, system, solver }: PackedFrame): void {
    const energy = system ? listSystem(system) : noSystem
    const diagnostics = solver ? listStoredSolver(solver) : noSolver
    this.#statements.saveFrame.run(id, time, wallTime, ...energy, ...diagnostics)
    this.#statements.saveBlock.run(
      id,
      contacts && toBytes(contacts),
      toBytes(bodies),
      joints && toBytes(joints),
    )
  }

  #addAppearance(id: number, frame: number): void {
    if (this.#run.firstFrameById.has(id)) return
    this.#run.firstFrameById.set(id, frame)
    this.#run.changedBodyIds.add(id)
  }

  /** Environment bodies appear with their first contact, because they do not have states. */
  #addContacts(contacts: Float64Array, frame: number): void {
    const { collisions } = unpackContacts(contacts)
    if (collisions.length > 0) this.markContactData()
    for (let at = 0; at < collisions.length; at += 7)
      for (const id of [collisions[at] ?? 0, collisions[at + 1] ?? 0])
        if (isEnvironmentId(id)) this.#addAppearance(id, frame)
  }

  #requireSame(frame: PackedFrame, nowMs: number): void {
    this.flush(nowMs)
    const run = this.#run
    const data = { frame_id: frame.id, last_frame_id: run.last }
    const stored = this.#statements.findFrame.get(frame.id)
    if (stored === undefined)
      throw new RecordingError('FRAME_CONFLICT', `frame ${frame.id} was sent after frame ${run.last}`, {
        remedy: 'send frames with ascending ids',
        data,
      })
    const [time, bodies, contacts, joints] = stored
    const isEnvironment = (id: number) => isEnvironmentBody(id, run)
    if (!isSameFrame({ time: time ?? Number.NaN, bodies, contacts, joints }, frame, isEnvironment))
      throw new RecordingError('FRAME_CONFLICT', `frame ${frame.id} is already stored and differs`, {
        remedy:
          'a recording cannot be changed: use a new name for each run, or delete this one first; another engine may be recording under this name',
        data,
      })
  }
}
