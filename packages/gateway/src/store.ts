import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Migration, openDatabase } from '@causeway/store'
import type { Database } from 'better-sqlite3'
import type { Catalogue } from './domain/catalogue.ts'
import { type Pin, type PinKind, toPinKey } from './domain/pins.ts'

export const gatewayMigrations: readonly Migration[] = [
  {
    name: 'catalogues',
    up: `
      CREATE TABLE catalogue (
        server TEXT PRIMARY KEY, config_hash TEXT NOT NULL, content TEXT NOT NULL, taken_ms INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE pin (
        server TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, definition TEXT NOT NULL,
        PRIMARY KEY (server, kind, name)
      ) STRICT, WITHOUT ROWID;`,
  },
]

const fileName = 'gateway.db'

interface PinRow {
  readonly kind: PinKind
  readonly name: string
  readonly definition: string
}

/** `gateway.db`: the last catalogue of each hosted server, and the approved definitions. */
export class GatewayStore {
  readonly #db: Database

  constructor(dataDir: string) {
    this.#db = openDatabase(join(dataDir, fileName), { migrations: gatewayMigrations })
  }

  findCatalogue(server: string, configHash: string): Catalogue | undefined {
    const sql = 'SELECT content FROM catalogue WHERE server = ? AND config_hash = ?'
    const content = this.#db.prepare<[string, string], string>(sql).pluck().get(server, configHash)
    return content === undefined ? undefined : (JSON.parse(content) as Catalogue)
  }

  saveCatalogue(server: string, configHash: string, catalogue: Catalogue, takenMs: number): void {
    this.#db
      .prepare(
        'INSERT OR REPLACE INTO catalogue (server, config_hash, content, taken_ms) VALUES (?, ?, ?, ?)',
      )
      .run(server, configHash, JSON.stringify(catalogue), takenMs)
  }

  listPins(server: string): readonly Pin[] {
    return this.#db
      .prepare<[string], PinRow>('SELECT kind, name, definition FROM pin WHERE server = ?')
      .all(server)
      .map(({ kind, name, definition }) => ({ kind, name, text: definition }))
  }

  savePins(server: string, pins: readonly Pin[]): void {
    const insert = this.#db.prepare(
      'INSERT OR REPLACE INTO pin (server, kind, name, definition) VALUES (?, ?, ?, ?)',
    )
    this.#db.transaction(() => {
      for (const { kind, name, text } of pins) insert.run(server, kind, name, text)
    })()
  }

  /** The next catalogue becomes the baseline. */
  removePins(server: string): void {
    this.#db.prepare('DELETE FROM pin WHERE server = ?').run(server)
  }

  /** Preserves pins, because an entry may be temporarily invalid or absent. */
  retainCatalogues(servers: readonly string[]): void {
    this.#db
      .prepare('DELETE FROM catalogue WHERE server NOT IN (SELECT value FROM json_each(?))')
      .run(JSON.stringify(servers))
  }

  close(): void {
    this.#db.close()
  }
}

export const selectPins = (pins: readonly Pin[], keys?: ReadonlySet<string>): readonly Pin[] =>
  keys === undefined ? pins : pins.filter((pin) => keys.has(toPinKey(pin)))

/** Also works while a server uses the folder. */
export function forgetPins(dataDir: string, server: string): void {
  if (!existsSync(join(dataDir, fileName))) return
  const store = new GatewayStore(dataDir)
  try {
    store.removePins(server)
  } finally {
    store.close()
  }
}
