import { CausewayError } from '@causeway/protocol'
import { dataFailure, openDatabase } from '@causeway/store'
import type { Database } from 'better-sqlite3'
import { isEnvironmentId } from '../domain/body-id.ts'
import { numberRoom } from './number-room.ts'
import { bodyAt, bodyWidth, type PackedFrame, toBytes, unpackContacts } from './packed-frame.ts'
import { mergeRun, type RunBody, type RunFacts, type RunKnowledge } from './run-facts.ts'
import { bodyColumns, readFacts } from './run-row.ts'
import { type RunStatus, runMigrations } from './run-schema.ts'
import { isSameFrame } from './same-frame.ts'
import { isStill } from './wire-bodies.ts'

/** How far a run has come. */
export interface RunProgress {
  readonly status: RunStatus
  readonly total_frames: number
  readonly first_frame_id: number | null
  /** last frame that is stored for good; the next one to send is greater */
  readonly last_frame_id: number | null
}

/** Writes one run. Synchronous: it lives in a worker, and nothing else writes the file. */
export interface RunWriter {
  readonly knowledge: RunKnowledge
  /** Takes over what a run line says; throws `FRAME_CONFLICT`. */
  addRun(facts: RunFacts): void
  /**
   * Takes a frame for the next flush; answers false for one that is stored already, in the same words. Throws
   * `FRAME_CONFLICT` for one that differs or comes too late, `RECORDING_FINISHED` after the end.
   */
  addFrame(frame: PackedFrame, nowMs: number): boolean
  /** Notes that the engine tells of contacts; a frame with contacts says so itself. */
  tellContacts(): void
  /**
   * Stores what was taken, in one transaction; all of it or, where that throws (`DATA_UNWRITABLE`), nothing, and the
   * run stands where it stood after the flush before.
   */
  flush(nowMs: number): RunProgress
  /** What is stored, without what waits for a flush. */
  stored(): RunProgress
  setStatus(status: RunStatus, nowMs: number): RunProgress
  close(): void
}

/** Bytes of a page: the block of a frame of 20 bodies has 4 kB, which a page of 4 kB does not hold. */
const pageBytes = 16_384

/** Bytes of the log from which on it is folded in. */
const checkpointBytes = 32 * 1024 ** 2

/** Bytes that are taken before they are stored without being asked. */
const batchBytes = 4 * 1024 ** 2

/** Bounds of a run file. */
export interface RunLimits {
  /** bytes; a frame that does not fit is `DATA_UNWRITABLE` */
  readonly bytes?: number
}

interface RunRow {
  readonly status: RunStatus
  readonly total_frames: number
  readonly first_frame: number | null
  readonly last_frame: number | null
  readonly tells_contacts: number
}

/** Opens a run file or creates it; throws `NEWER_DATA`, `DATA_DAMAGED`, `DATA_UNWRITABLE`. */
export function openRunWriter(file: string, nowMs: number, limits: RunLimits = {}): RunWriter {
  const db = openDatabase(file, { migrations: runMigrations, pageBytes, now: () => nowMs })
  try {
    // A flush that does not fit in the cache would be written in parts, some pages twice.
    db.pragma(`cache_size = ${-(4 * batchBytes) / 1024}`)
    // A checkpoint every 4 MB would be one at every flush of a fast engine.
    db.pragma(`wal_autocheckpoint = ${Math.round(checkpointBytes / pageBytes)}`)
    if (limits.bytes !== undefined) {
      const page = db.pragma('page_size', { simple: true }) as number
      db.pragma(`max_page_count = ${Math.max(1, Math.floor(limits.bytes / page))}`)
    }
    return runWriter(db, file, nowMs)
  } catch (error) {
    db.close()
    throw dataFailure(error, file)
  }
}

function runWriter(db: Database, file: string, nowMs: number): RunWriter {
  db.prepare(
    `INSERT INTO run (id, status, updated_ms, total_frames) VALUES (1, 'live', ?, 0) ON CONFLICT DO NOTHING`,
  ).run(nowMs)
  const readRun = db.prepare<[], RunRow>(
    'SELECT status, total_frames, first_frame, last_frame, tells_contacts FROM run',
  )
  const saveRun = db.prepare(
    `UPDATE run SET status = @status, updated_ms = @nowMs, engine = @engine, dt = @dt, gravity_x = @x, gravity_y = @y,
     gravity_z = @z, lambda_unit = @lambdaUnit, total_frames = @total, first_frame = @first, last_frame = @last,
     tells_contacts = @tellsContacts`,
  )
  const saveBody = db.prepare(
    `INSERT INTO body (${bodyColumns.join(', ')}) VALUES (${bodyColumns.map(() => '?').join(', ')})
     ON CONFLICT (body_id) DO UPDATE SET ${bodyColumns.map((name) => `${name} = excluded.${name}`).join(', ')}`,
  )
  const saveFrame = db.prepare('INSERT INTO frame VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const saveBlock = db.prepare('INSERT INTO block VALUES (?, ?, ?)')
  const findFrame = db
    .prepare<[number], [number | null, Buffer, Buffer | null]>(
      'SELECT f.time, b.bodies, b.contacts FROM frame f JOIN block b ON b.frame_id = f.id WHERE f.id = ?',
    )
    .raw()

  let run = loadRun(db, readRun.get())
  const room = numberRoom()
  let pending: PackedFrame[] = []
  let pendingBytes = 0

  const progress = (): RunProgress => ({
    status: run.status,
    total_frames: run.total,
    first_frame_id: run.first,
    last_frame_id: run.last,
  })
  let stored = progress()
  const store = db.transaction((now: number) => {
    for (const id of run.changed) {
      const body = run.bodies.get(id)
      const values = body
        ? [body.mass, body.restitution, body.friction, body.asset, ...body.inertia, ...body.extents]
        : new Array(bodyColumns.length - 3).fill(null)
      saveBody.run(id, body ? 1 : 0, ...values, run.appeared.get(id) ?? null)
    }
    for (const frame of pending) {
      const { system, solver } = frame
      saveFrame.run(
        ...[frame.id, frame.time, frame.wallTime],
        ...(system
          ? [system.linear, system.rotational, system.potential, system.total, system.delta]
          : [null, null, null, null, null]),
        ...(system ? [Number(system.injection), Number(system.active)] : [null, null]),
        ...(solver
          ? [
              solver.iterations,
              solver.residual,
              Number(solver.converged),
              solver.constraints,
              solver.contacts,
            ]
          : [null, null, null, null, null]),
      )
      saveBlock.run(frame.id, frame.contacts && toBytes(frame.contacts), toBytes(frame.bodies))
    }
    const [x, y, z] = run.facts.gravity ?? [null, null, null]
    const { engine, dt, lambdaUnit } = run.facts
    const { status, total, first, last } = run
    const tellsContacts = Number(run.tellsContacts)
    saveRun.run({ status, nowMs: now, engine, dt, x, y, z, lambdaUnit, total, first, last, tellsContacts })
  }).immediate
  const flush = (now: number): RunProgress => {
    if (!run.isDirty) {
      // Nothing waits, so nobody needs what was taken: a frame that was sent again leaves its numbers here.
      room.clear()
      return stored
    }
    try {
      store(now)
      run.changed.clear()
      run.isDirty = false
    } catch (error) {
      run = loadRun(db, readRun.get())
      stored = progress()
      throw dataFailure(error, file)
    } finally {
      pending = []
      pendingBytes = 0
      room.clear()
    }
    stored = progress()
    return stored
  }

  const appear = (id: number, frame: number): void => {
    if (run.appeared.has(id)) return
    run.appeared.set(id, frame)
    run.changed.add(id)
  }

  /** An environment body has no state: it appears with the first contact. */
  const touchEnvironment = (contacts: Float64Array, frame: number): void => {
    const { collisions } = unpackContacts(contacts)
    if (collisions.length > 0) tellContacts()
    for (let at = 0; at < collisions.length; at += 7)
      for (const id of [collisions[at] ?? 0, collisions[at + 1] ?? 0])
        if (isEnvironmentId(id)) appear(id, frame)
  }

  const tellContacts = (): void => {
    if (run.tellsContacts) return
    run.tellsContacts = true
    run.isDirty = true
  }

  const isRepeat = (frame: PackedFrame, now: number): boolean => {
    flush(now)
    const stored = findFrame.get(frame.id)
    if (stored === undefined)
      throw new CausewayError('FRAME_CONFLICT', `frame ${frame.id} comes after frame ${run.last}`, {
        remedy: 'send frames with ascending ids',
        data: { frame_id: frame.id, last_frame_id: run.last },
      })
    const [time, bodies, contacts] = stored
    if (isSameFrame({ time: time ?? Number.NaN, bodies, contacts }, frame, (id) => isStill(id, run)))
      return true
    throw new CausewayError('FRAME_CONFLICT', `frame ${frame.id} is stored already and differs`, {
      remedy: 'another engine may be recording under this name: use one name for each run',
      data: { frame_id: frame.id, last_frame_id: run.last },
    })
  }

  return {
    knowledge: {
      get constants() {
        return run.facts
      },
      get bodies() {
        return run.bodies
      },
      isKnown: (id) => run.appeared.has(id),
      energyBefore: () => run.energy,
      room: room.take,
    },
    addRun(facts) {
      run.facts = mergeRun(run.facts, facts)
      for (const body of facts.bodies) if (!run.bodies.has(body.id)) run.changed.add(body.id)
      run.bodies = new Map(run.facts.bodies.map((body) => [body.id, body]))
      run.isDirty = true
    },
    addFrame(frame, now) {
      if (run.last !== null && frame.id <= run.last && isRepeat(frame, now)) return false
      if (run.status === 'finished')
        throw new CausewayError('RECORDING_FINISHED', 'the recording is finished', {
          data: { last_frame_id: run.last },
        })
      for (let at = 0; at < frame.bodies.length; at += bodyWidth)
        appear(frame.bodies[at + bodyAt.id] ?? 0, frame.id)
      if (frame.contacts !== null) touchEnvironment(frame.contacts, frame.id)
      pending.push(frame)
      pendingBytes += frame.bodies.byteLength + (frame.contacts?.byteLength ?? 0)
      run.total += 1
      run.first ??= frame.id
      run.last = frame.id
      run.energy = frame.system?.total ?? run.energy
      run.isDirty = true
      if (pendingBytes >= batchBytes) flush(now)
      return true
    },
    tellContacts,
    flush,
    stored: () => stored,
    setStatus(status, now) {
      flush(now)
      run.status = status
      run.isDirty = true
      return flush(now)
    },
    close() {
      db.close()
    },
  }
}

interface OpenRun {
  status: RunStatus
  facts: RunFacts
  bodies: ReadonlyMap<number, RunBody>
  /** first frame of a body, by id */
  readonly appeared: Map<number, number>
  /** bodies whose row has to be written */
  readonly changed: Set<number>
  isDirty: boolean
  tellsContacts: boolean
  total: number
  first: number | null
  last: number | null
  /** total energy of the last frame, NaN before the first */
  energy: number
}

/** What the file says: the state in memory begins with it, and returns to it where a flush failed. */
function loadRun(db: Database, row: RunRow | undefined): OpenRun {
  if (row === undefined) throw new Error('a run file without its row')
  const facts = readFacts(db)
  const appearances = db
    .prepare<[], [number, number]>('SELECT body_id, first_frame FROM body WHERE first_frame IS NOT NULL')
    .raw()
    .all()
  const energy = db
    .prepare<[], number | null>(
      'SELECT total_e FROM frame WHERE energy_injection IS NOT NULL ORDER BY id DESC LIMIT 1',
    )
    .pluck()
    .get()
  return {
    status: row.status,
    facts,
    bodies: new Map(facts.bodies.map((body) => [body.id, body])),
    appeared: new Map(appearances),
    changed: new Set(),
    isDirty: false,
    tellsContacts: row.tells_contacts === 1,
    total: row.total_frames,
    first: row.first_frame,
    last: row.last_frame,
    energy: energy ?? Number.NaN,
  }
}
