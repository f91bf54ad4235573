/** External forces of the frames of a private copy. */
import { boundsOfFrame, type Connection } from './connection.ts'
import type { ReadRows } from './contact-reader.ts'
import { countAt, type RawRow, selectFrom, vectorAt, xyz } from './selection.ts'
import type { ExternalForce } from './types.ts'

const stateTable = 'AssetDynamicStateRecord'
const parent = 'AssetDynamicStateRecord_id'

/** Links of a state to its external forces, in the order of the states. */
export const externalTable = 'AssetDynamicStateRecord_ExternalForceRecord'

/** True where the file holds external forces; most have a place for them and leave it empty. */
export const hasExternalForces = ({ db, era: { parts, schema } }: Connection): boolean =>
  parts.states === stateTable &&
  schema.has(externalTable, parent, 'ExternalForceRecord_id') &&
  schema.has('ExternalForceRecord', 'id', 'force_id', 'torque_id') &&
  schema.has('ForceVectorRecord', 'x') &&
  schema.has('TorqueVectorRecord', 'x') &&
  db.prepare(`SELECT 1 FROM ${externalTable} LIMIT 1`).get() !== undefined

/** Prepares the reader of what acts on the bodies of a frame beside gravity and contacts. */
export function externalReader(connection: Connection): ReadRows<ExternalForce> {
  const { db, era, bounds } = connection
  if (!hasExternalForces(connection)) return () => []
  const ofStates = db
    .prepare<[number, number, number], [first: number | null, last: number | null]>(
      `SELECT min(id), max(id) FROM ${stateTable} WHERE frame_id = ? AND id BETWEEN ? AND ?`,
    )
    .raw()
  const select = selectFrom(era.schema, externalTable)
  const state = select.join(select.root, parent, stateTable)
  const external = select.join(select.root, 'ExternalForceRecord_id', 'ExternalForceRecord')
  const body = select.column(state, 'body_id')
  const force = select.leaf(external, 'force', 'ForceVectorRecord', xyz)
  const torque = select.leaf(external, 'torque', 'TorqueVectorRecord', xyz)
  const place = select.leaf(external, 'applicationPoint', 'CoordinateRecord', xyz)
  const statement = db
    .prepare<[number, number, number, number, number], RawRow>(
      select.sql(
        `WHERE t.rowid BETWEEN ? AND ? AND t.${parent} BETWEEN ? AND ? AND ${state.alias}.frame_id = ? ORDER BY t.rowid`,
      ),
    )
    .raw()
  return (frame) => {
    const [first, last] = ofStates.get(frame, ...boundsOfFrame(connection, stateTable, frame)) ?? []
    if (first == null || last == null) return []
    const [low, high] = bounds.links(externalTable, parent, first, last)
    return statement.all(low, high, first, last, frame).map((row) => ({
      body_id: countAt(row, body),
      force: vectorAt(row, force),
      torque: vectorAt(row, torque),
      at: vectorAt(row, place),
    }))
  }
}
