/** `server.db`: the state of clients, the handshakes of their sessions and the key that signs. Its audit is in `audit/audit-store.ts`. */
import { randomBytes } from 'node:crypto'
import { dataFailure, type Migration, openDatabase, watchJumps } from '@causeway/store'
import { type AuditStore, auditMigration, auditStore } from './audit/audit-store.ts'
import type { ClientStateStore } from './client-state.ts'
import type { Handshakes } from './core.ts'
import { type TaskStore, taskMigration, taskStore } from './tasks/task-store.ts'

/** What is not used for this long is forgotten, ms. */
const keepMs = 24 * 60 * 60 * 1000

/** State key of a token without a name: the owner, which starts with `#`, and the key without it. */
const unnamedOwnerKey = /^#[^:]+:(.*)$/s

/** Schema of `server.db`, in order; a published step is never changed. */
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
]

/** The server's own data file. */
export interface ServerStore {
  readonly states: ClientStateStore
  readonly handshakes: Handshakes
  /** 32 random bytes, made once for this file. */
  readonly signingKey: Uint8Array
  readonly audit: AuditStore
  readonly tasks: TaskStore
  close(): Promise<void>
}

interface HandshakeRow {
  readonly session_id: string
  readonly owner: string
  readonly mount_path: string
  readonly initialize: string
  readonly subscriptions: string
}

/**
 * Opens the file and forgets what has expired. What counts is the time without use while a server ran: where the time of day
 * jumps, by a clock that is set or a machine that slept, the times of use go with it. `steady` is by default the time of day.
 */
export async function openServerStore(
  file: string,
  { now: clock, steady = clock }: { readonly now: () => number; readonly steady?: () => number },
): Promise<ServerStore> {
  const db = openDatabase(file, { migrations: serverMigrations, now: clock })
  const jumped = watchJumps({ now: clock, steady })
  const shift = db.transaction((ms: number) => {
    db.prepare('UPDATE client_state SET used_ms = used_ms + ?').run(ms)
    db.prepare('UPDATE handshake SET used_ms = used_ms + ?').run(ms)
    db.prepare('UPDATE task SET created_ms = created_ms + @ms, updated_ms = updated_ms + @ms').run({ ms })
  })
  const now = (): number => {
    const ms = jumped()
    if (ms !== 0) shift(ms)
    return clock()
  }
  const oldest = (): number => now() - keepMs
  /** Names this file in an error, which a caller would otherwise attribute to the data of an app. */
  const inFile = async <T>(work: () => T): Promise<T> => {
    try {
      return work()
    } catch (error) {
      throw dataFailure(error, file)
    }
  }
  const tasks = taskStore(db)
  const useState = db
    .prepare<[number, string, string, number], string>(
      'UPDATE client_state SET used_ms = ? WHERE session_key = ? AND app = ? AND used_ms >= ? RETURNING state',
    )
    .pluck()
  const claimState = db.prepare<[string, string, string, number]>(
    `UPDATE OR REPLACE client_state SET session_key = ? WHERE session_key = ? AND app = ? AND used_ms < ?`,
  )
  const ownersMs = db
    .prepare<[], number>(`SELECT applied_ms FROM causeway_migration WHERE name = 'owners'`)
    .pluck()
    .get() as number
  /**
   * Before the migration `owners`, tokens without a name shared their state. It moves to the first of them that loads it,
   * unless it was used without tokens since.
   */
  const findClaimed = (sessionKey: string, app: string): string | undefined => {
    const [, sharedKey] = unnamedOwnerKey.exec(sessionKey) ?? []
    if (sharedKey === undefined || claimState.run(sessionKey, sharedKey, app, ownersMs).changes === 0)
      return undefined
    return useState.get(now(), sessionKey, app, oldest())
  }
  const putState = db.prepare<[string, string, string, number]>(
    `INSERT INTO client_state (session_key, app, state, used_ms) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET state = excluded.state, used_ms = excluded.used_ms`,
  )
  const useHandshake = db.prepare<[number, string, string, number], HandshakeRow>(
    `UPDATE handshake SET used_ms = ? WHERE session_id = ? AND owner = ? AND used_ms >= ?
     RETURNING session_id, owner, mount_path, initialize, subscriptions`,
  )
  const putHandshake = db.prepare<[string, string, string, string, string, number]>(
    `INSERT INTO handshake (session_id, owner, mount_path, initialize, subscriptions, used_ms) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET subscriptions = excluded.subscriptions, used_ms = excluded.used_ms`,
  )
  const dropHandshake = db.prepare<[string]>('DELETE FROM handshake WHERE session_id = ?')
  const forgetExpired = db.transaction((before: number) => {
    db.prepare('DELETE FROM client_state WHERE used_ms < ?').run(before)
    db.prepare('DELETE FROM handshake WHERE used_ms < ?').run(before)
  })

  const signingKey = (): Uint8Array => {
    db.prepare("INSERT INTO secret (name, value) VALUES ('signing', ?) ON CONFLICT DO NOTHING").run(
      randomBytes(32),
    )
    return db
      .prepare<[], Uint8Array>("SELECT value FROM secret WHERE name = 'signing'")
      .pluck()
      .get() as Uint8Array
  }

  forgetExpired(oldest())
  const sweep = setInterval(() => forgetExpired(oldest()), keepMs / 24).unref()
  return {
    states: {
      load: (sessionKey, app) =>
        inFile(() => useState.get(now(), sessionKey, app, oldest()) ?? findClaimed(sessionKey, app)),
      save: (sessionKey, app, json) => inFile(() => void putState.run(sessionKey, app, json, now())),
    },
    handshakes: {
      async save({ sessionId, owner, mountPath, initialize, subscriptions }) {
        putHandshake.run(
          sessionId,
          owner,
          mountPath,
          JSON.stringify(initialize),
          JSON.stringify(subscriptions),
          now(),
        )
      },
      async find(sessionId, owner) {
        const row = useHandshake.get(now(), sessionId, owner, oldest())
        if (row === undefined) return undefined
        return {
          sessionId: row.session_id,
          owner: row.owner,
          mountPath: row.mount_path,
          initialize: JSON.parse(row.initialize),
          subscriptions: JSON.parse(row.subscriptions),
        }
      },
      forget: async (sessionId) => void dropHandshake.run(sessionId),
    },
    signingKey: signingKey(),
    audit: auditStore(db),
    tasks: {
      ...tasks,
      forgetExpired: async () => tasks.forgetExpired(now()),
    },
    async close() {
      clearInterval(sweep)
      db.close()
    },
  }
}
