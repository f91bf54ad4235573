/** Contents of snapshots as rows of `trm.db`, where no git keeps them. */
import type { openDatabase } from '@causeway/store'
import type { ContentRows } from './snapshot/row-contents.ts'

/** The transactions over an open `trm.db`. */
export function contentRows(db: ReturnType<typeof openDatabase>, now: () => number): ContentRows {
  const sql = <Params extends unknown[], Row = unknown>(text: string) => db.prepare<Params, Row>(text)
  const transact = <Result>(work: () => Result): Result => db.transaction(work).immediate()
  const renewed = sql<[number, string]>('UPDATE content SET kept_ms = ? WHERE blob = ?')
  return {
    renew: async (blob) => renewed.run(now(), blob).changes > 0,
    addPart: async (name, part, bytes) =>
      void sql<[string, number, Buffer, number]>(
        'INSERT INTO content (blob, part, bytes, kept_ms) VALUES (?, ?, ?, ?)',
      ).run(name, part, bytes, now()),
    name: async (passing, blob) =>
      transact(() => {
        if (renewed.run(now(), blob).changes > 0)
          sql<[string]>('DELETE FROM content WHERE blob = ?').run(passing)
        else sql<[string, string]>('UPDATE content SET blob = ? WHERE blob = ?').run(blob, passing)
      }),
    part: async (blob, part) =>
      sql<[string, number], { bytes: Buffer }>('SELECT bytes FROM content WHERE blob = ? AND part = ?').get(
        blob,
        part,
      )?.bytes,
    keepList: async (id, list, blobs) =>
      transact(() => {
        sql<[string, string]>('INSERT INTO snapshot (id, list) VALUES (?, ?)').run(id, list)
        const name = sql<[string, string]>('INSERT INTO snapshot_content (blob, snapshot_id) VALUES (?, ?)')
        for (const blob of blobs) name.run(blob, id)
      }),
    list: async (id) =>
      sql<[string], { list: string }>('SELECT list FROM snapshot WHERE id = ?').get(id)?.list,
    drop: async (ids) =>
      transact(() => {
        for (const id of ids) {
          sql<[string]>('DELETE FROM snapshot WHERE id = ?').run(id)
          sql<[string]>('DELETE FROM snapshot_content WHERE snapshot_id = ?').run(id)
        }
      }),
    sweep: async (beforeMs) =>
      void sql<[number]>(
        'DELETE FROM content WHERE kept_ms <= ? AND blob NOT IN (SELECT blob FROM snapshot_content)',
      ).run(beforeMs),
  }
}
