import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { bodyAt, bodyWidth, hasState, type PackedFrame, unpackContacts } from '../formats/packed-frame.ts'
import { readFacts } from '../formats/run-schema.ts'
import { prepareFrames } from '../reader/run/run-frame.ts'
import { createContactDataReader } from '../reader/run/run-summary.ts'
import type { Provenance } from '../types.ts'
import { type DuckAppender, type DuckConnection, quoteText } from './duckdb-library.ts'
import { type LakeTable, lakeTables, lakeVersion } from './lake-schema.ts'
import type { LakeRun } from './lake-types.ts'

/** Row of a colliding pair: a, b, normal, depth, points. */
const [collisionWidth, depthAt] = [7, 5]

/** Exports a run. Only complete files get their final names. */
export async function exportLakeRun(connection: DuckConnection, run: LakeRun, folder: string): Promise<void> {
  const source = new Database(run.file, { readonly: true, fileMustExist: true })
  try {
    const tables = Object.keys(lakeTables) as LakeTable[]
    for (const table of tables)
      await connection.run(`CREATE OR REPLACE TABLE ${table} (${lakeTables[table].join(', ')})`)
    const [frames, states] = [
      await connection.createAppender('frame'),
      await connection.createAppender('state'),
    ]
    const facts = {
      recording: run.recording,
      provenance: readFacts(source).provenance,
      hasContactData: createContactDataReader(source)(),
    }
    for (const frame of prepareFrames(source)(0, Number.MAX_SAFE_INTEGER)) {
      appendFrame(frames, facts, frame)
      appendStates(states, facts, frame)
    }
    frames.closeSync()
    states.closeSync()
    for (const quantity of quantities) await connection.run(writeUnrecorded(quantity))
    // The frame file is written last, because it marks a complete run.
    for (const table of tables.toReversed()) await writeTable(connection, table, run, folder)
  } finally {
    source.close()
  }
}

const quantities = [
  ['x', 'y', 'z'],
  ['vx', 'vy', 'vz'],
  ['qw', 'qx', 'qy', 'qz'],
] as const

/**
 * Returns SQL that replaces a quantity with NULL if it is NaN in all states of a body, because it was not recorded.
 * Other NaNs come from diverged runs.
 */
function writeUnrecorded(columns: readonly string[]): string {
  const isNan = columns.map((column) => `isnan(${column})`).join(' AND ')
  return `UPDATE state SET ${columns.map((column) => `${column} = NULL`).join(', ')}
    WHERE body_id IN (SELECT body_id FROM state GROUP BY body_id HAVING bool_and(${isNan}))`
}

export async function writeTable(
  connection: DuckConnection,
  table: LakeTable,
  { name }: Pick<LakeRun, 'name'>,
  folder: string,
): Promise<void> {
  const file = join(folder, lakeVersion, table, `${name}.parquet`)
  const order = table === 'state' ? 'body_id, frame_id' : 'frame_id'
  await connection.run(
    `COPY (SELECT * FROM ${table} ORDER BY ${order}) TO ${quoteText(`${file}.part`)} (FORMAT parquet, COMPRESSION zstd)`,
  )
  await rename(`${file}.part`, file)
}

interface RunFacts {
  readonly recording: string
  readonly provenance: Provenance | null
  readonly hasContactData: boolean
}

function appendRun(to: DuckAppender, { recording, provenance }: RunFacts, { id, time }: PackedFrame): void {
  to.appendVarchar(recording)
  for (const text of [provenance?.commit, provenance?.branch, provenance?.scenario])
    if (text == null) to.appendNull()
    else to.appendVarchar(text)
  to.appendBigInt(BigInt(id))
  appendKnown(to, time)
}

function appendKnown(to: DuckAppender, value: number | undefined): void {
  if (value === undefined || Number.isNaN(value)) to.appendNull()
  else to.appendDouble(value)
}

function appendFrame(to: DuckAppender, run: RunFacts, frame: PackedFrame): void {
  appendRun(to, run, frame)
  appendKnown(to, frame.solver?.iterations)
  appendKnown(to, frame.solver?.residual)
  appendKnown(to, frame.system?.total)
  appendKnown(to, findDepth(frame, run.hasContactData))
  to.endRow()
}

/** Returns the maximum depth in m, 0 without contacts. */
function findDepth({ contacts }: PackedFrame, hasContactData: boolean): number | undefined {
  if (contacts === null) return hasContactData ? 0 : undefined
  const { collisions } = unpackContacts(contacts)
  let deepest = 0
  for (let at = depthAt; at < collisions.length; at += collisionWidth)
    deepest = Math.max(deepest, collisions[at] ?? 0)
  return deepest
}

function appendStates(to: DuckAppender, run: RunFacts, frame: PackedFrame): void {
  const { bodies } = frame
  for (let at = 0; at < bodies.length; at += bodyWidth) {
    if (((bodies[at + bodyAt.parts] ?? 0) & hasState) === 0) continue
    appendRun(to, run, frame)
    to.appendInteger(bodies[at + bodyAt.id] ?? 0)
    for (const [start, count] of [
      [bodyAt.position, 3],
      [bodyAt.velocity, 3],
      [bodyAt.orientation, 4],
    ] as const)
      for (let k = at + start; k < at + start + count; k++) to.appendDouble(bodies[k] ?? Number.NaN)
    to.endRow()
  }
}
