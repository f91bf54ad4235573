import { randomBytes } from 'node:crypto'
import type { Params } from '@causeway/protocol'
import { ClockJumpDetector, type Migration, OpenFile, openDatabase, toDataError } from '@causeway/store'
import type { Database } from 'better-sqlite3'
import { AuditStore, auditFailuresMigration, auditMigration } from '../audit/audit-store.ts'
import { openTaskStore, type TaskStore, taskMigration } from '../tasks/task-store.ts'

const expiryMs = 24 * 60 * 60 * 1000

export const serverMigrations: readonly Migration[] = [
  {
    name: 'clients',
    up: `
      CREATE TABLE client_state (
        session_key TEXT NOT NULL, app TEXT NOT NULL, state TEXT NOT NULL, used_ms INTEGER NOT NULL,
        PRIMARY KEY (session_key, app)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX client_state_used ON client_state (used_ms);
      CREATE TABLE handshake (
        session_id TEXT PRIMARY KEY, mount_path TEXT NOT NULL, initialize TEXT NOT NULL,
        subscriptions TEXT NOT NULL, used_ms INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX handshake_used ON handshake (used_ms);`,
  },
  {
    name: 'secrets',
    up: 'CREATE TABLE secret (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID',
  },
  auditMigration,
  taskMigration,
  {
    name: 'owners',
    up: `
      ALTER TABLE handshake ADD COLUMN owner TEXT NOT NULL DEFAULT '';
      ALTER TABLE task ADD COLUMN owner TEXT NOT NULL DEFAULT '';`,
  },
  auditFailuresMigration,
]

interface ServerStoreOptions extends ServerClocks {
  /** Receives errors that occur while expired rows are deleted. */
  readonly onFailure?: (error: unknown) => void
}

interface ServerClocks {
  /** Unix milliseconds. */
  readonly now: () => number
  /** Monotonic milliseconds. Default: `now`. */
  readonly monotonicNow?: () => number
}

export class ServerStore {
  readonly states: ClientStateStore
  readonly handshakes: HandshakeStore
  /** 32 random bytes, created once per file. */
  readonly signingKey: Uint8Array
  readonly audit: AuditStore
  readonly tasks: TaskStore
  readonly #file: ServerFile
  readonly #timer: NodeJS.Timeout

  constructor(path: string, { onFailure = () => {}, ...clocks }: ServerStoreOptions) {
    this.#file = new ServerFile(path, clocks)
    const { db } = this.#file
    const write = (change: () => void): Promise<void> => this.#file.run(change)
    this.states = new ClientStateStore(this.#file)
    this.handshakes = new HandshakeStore(this.#file)
    this.signingKey = getSigningKey(db)
    this.audit = new AuditStore(db, write)
    this.tasks = openTaskStore(db, { write, now: () => this.#file.now() })
    this.#file.deleteExpired()
    const deleteExpired = () => this.#file.run(() => this.#file.deleteExpired()).catch(onFailure)
    this.#timer = setInterval(deleteExpired, expiryMs / 24).unref()
  }

  close(): void {
    clearInterval(this.#timer)
    this.#file.db.close()
  }
}

class ServerFile {
  readonly db: Database
  readonly #path: string
  readonly #openFile: OpenFile
  readonly #clock: () => number
  readonly #jumps: ClockJumpDetector

  constructor(path: string, { now, monotonicNow = now }: ServerClocks) {
    this.#path = path
    this.#clock = now
    this.#jumps = new ClockJumpDetector({ now, monotonicNow })
    this.db = openDatabase(path, { migrations: serverMigrations, now })
    this.#openFile = new OpenFile(path)
  }

  /** Returns Unix milliseconds. After a clock jump, first shifts the stored times. */
  now(): number {
    const jumpMs = this.#jumps.detect()
    if (jumpMs !== 0) this.#shiftTimes(jumpMs)
    return this.#clock()
  }

  get expiryTime(): number {
    return this.now() - expiryMs
  }

  /** Throws `DATA_MISSING`. Database errors name this file, not the caller's app. */
  async run<T>(work: () => T | Promise<T>): Promise<T> {
    this.#openFile.requireInPlace()
    try {
      return await work()
    } catch (error) {
      throw toDataError(error, this.#path)
    }
  }

  deleteExpired(): void {
    const previousExpiry = this.expiryTime
    this.db.transaction(() => {
      this.db.prepare('DELETE FROM client_state WHERE used_ms < ?').run(previousExpiry)
      this.db.prepare('DELETE FROM handshake WHERE used_ms < ?').run(previousExpiry)
    })()
  }

  #shiftTimes(ms: number): void {
    this.db.transaction(() => {
      this.db.prepare('UPDATE client_state SET used_ms = used_ms + ?').run(ms)
      this.db.prepare('UPDATE handshake SET used_ms = used_ms + ?').run(ms)
      this.db
        .prepare('UPDATE task SET created_ms = created_ms + @ms, updated_ms = updated_ms + @ms')
        .run({ ms })
    })()
  }
}

/** State key of an unnamed token: its owner, then the session key. */
const unnamedTokenKey = /^#[^:]+:(.*)$/s

export class ClientStateStore {
  readonly #file: ServerFile
  readonly #use
  readonly #claim
  readonly #save
  readonly #ownersMigratedMs: number

  constructor(file: ServerFile) {
    this.#file = file
    this.#use = file.db
      .prepare<[number, string, string, number], string>(
        'UPDATE client_state SET used_ms = ? WHERE session_key = ? AND app = ? AND used_ms >= ? RETURNING state',
      )
      .pluck()
    this.#claim = file.db.prepare<[string, string, string, number]>(
      'UPDATE OR REPLACE client_state SET session_key = ? WHERE session_key = ? AND app = ? AND used_ms < ?',
    )
    this.#save = file.db.prepare<[string, string, string, number]>(
      `INSERT INTO client_state (session_key, app, state, used_ms) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET state = excluded.state, used_ms = excluded.used_ms`,
    )
    this.#ownersMigratedMs = file.db
      .prepare<[], number>("SELECT applied_ms FROM causeway_migration WHERE name = 'owners'")
      .pluck()
      .get() as number
  }

  /** Returns JSON, or `undefined` for an unknown or expired key. Counts as a use of the state. */
  load(sessionKey: string, app: string): Promise<string | undefined> {
    return this.#file.run(() => this.#load(sessionKey, app) ?? this.#claimShared(sessionKey, app))
  }

  save(sessionKey: string, app: string, json: string): Promise<void> {
    return this.#file.run(() => void this.#save.run(sessionKey, app, json, this.#file.now()))
  }

  #load(sessionKey: string, app: string): string | undefined {
    return this.#use.get(this.#file.now(), sessionKey, app, this.#file.expiryTime)
  }

  /** Older versions shared a state among unnamed tokens. The first token takes over a state that was not used since. */
  #claimShared(sessionKey: string, app: string): string | undefined {
    const [, sharedKey] = unnamedTokenKey.exec(sessionKey) ?? []
    if (sharedKey === undefined) return undefined
    const { changes } = this.#claim.run(sessionKey, sharedKey, app, this.#ownersMigratedMs)
    return changes === 0 ? undefined : this.#load(sessionKey, app)
  }
}

interface SavedHandshake {
  readonly sessionId: string
  /** Token owner; empty without a token. */
  readonly owner: string
  readonly mountPath: string
  readonly initialize: Params
  readonly subscriptions: readonly string[]
}

class HandshakeStore {
  readonly #file: ServerFile
  readonly #use
  readonly #save
  readonly #delete

  constructor(file: ServerFile) {
    this.#file = file
    this.#use = file.db.prepare<[number, string, string, number], Record<keyof SavedHandshake, string>>(
      `UPDATE handshake SET used_ms = ? WHERE session_id = ? AND owner = ? AND used_ms >= ?
       RETURNING session_id AS sessionId, owner, mount_path AS mountPath, initialize, subscriptions`,
    )
    this.#save = file.db.prepare<[string, string, string, string, string, number]>(
      `INSERT INTO handshake (session_id, owner, mount_path, initialize, subscriptions, used_ms) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET subscriptions = excluded.subscriptions, used_ms = excluded.used_ms`,
    )
    this.#delete = file.db.prepare<[string]>('DELETE FROM handshake WHERE session_id = ?')
  }

  async save({ sessionId, owner, mountPath, initialize, subscriptions }: SavedHandshake): Promise<void> {
    const [params, uris] = [JSON.stringify(initialize), JSON.stringify(subscriptions)]
    await this.#file.run(() => this.#save.run(sessionId, owner, mountPath, params, uris, this.#file.now()))
  }

  /** Returns `undefined` for an expired session or another owner. Counts as a use of the session. */
  async find(sessionId: string, owner: string): Promise<SavedHandshake | undefined> {
    const row = this.#use.get(this.#file.now(), sessionId, owner, this.#file.expiryTime)
    if (row === undefined) return undefined
    const { initialize, subscriptions } = row
    return { ...row, initialize: JSON.parse(initialize), subscriptions: JSON.parse(subscriptions) }
  }

  async delete(sessionId: string): Promise<void> {
    this.#delete.run(sessionId)
  }
}

function getSigningKey(db: Database): Uint8Array {
  db.prepare("INSERT INTO secret (name, value) VALUES ('signing', ?) ON CONFLICT DO NOTHING").run(
    randomBytes(32),
  )
  return db
    .prepare<[], Uint8Array>("SELECT value FROM secret WHERE name = 'signing'")
    .pluck()
    .get() as Uint8Array
}
