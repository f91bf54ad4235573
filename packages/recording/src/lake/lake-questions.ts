/** Questions about the frames of many runs, in SQL that DuckDB and ClickHouse share. */

export interface Dialect {
  source(table: 'frame' | 'state'): string
  readonly argMax: string
  /** Interpolates linearly. */
  quantile(share: number, column: string): string
  parameter(name: string, type: 'text' | 'number'): string
}

export interface LakeFilter {
  readonly scenario?: string | undefined
  readonly commit?: string | undefined
}

export interface LakeQuestion {
  readonly name: string
  readonly about: string
  readonly threshold: number | null
  /** Numeric columns of the answer. All others are strings. */
  readonly numbers: readonly string[]
  sql(dialect: Dialect, where: string): string
}

const run = 'recording, "commit", scenario'

export const lakeQuestions: readonly LakeQuestion[] = [
  {
    name: 'blew_up',
    about: 'first frame above threshold (m/s)',
    threshold: 1000,
    numbers: ['first_frame', 'frames', 'bodies'],
    sql: (dialect, where) => `
      SELECT ${run}, min(frame_id) AS first_frame, count(DISTINCT frame_id) AS frames, count(DISTINCT body_id) AS bodies
      FROM ${dialect.source('state')}
      WHERE ${where} AND vx IS NOT NULL AND (NOT isFinite(vx + vy + vz)
        OR sqrt(vx * vx + vy * vy + vz * vz) > ${dialect.parameter('threshold', 'number')})
      GROUP BY ${run} ORDER BY first_frame, recording`,
  },
  {
    name: 'worst_depth',
    about: 'deepest, above threshold (m)',
    threshold: 0,
    numbers: ['frame', 'max_depth_m', 'frames_above'],
    sql: (dialect, where) => `
      SELECT ${run}, ${dialect.argMax}(frame_id, depth) AS frame, max(depth) AS max_depth_m, count(*) AS frames_above
      FROM (SELECT ${run}, frame_id, max_depth_m AS depth FROM ${dialect.source('frame')}
        WHERE ${where} AND max_depth_m > ${dialect.parameter('threshold', 'number')} AND isFinite(max_depth_m)) AS deep
      GROUP BY ${run} ORDER BY max_depth_m DESC, recording`,
  },
  {
    name: 'iterations',
    about: 'by commit and scenario',
    threshold: null,
    numbers: ['frames', 'p50', 'p95', 'largest'],
    sql: (dialect, where) => `
      SELECT "commit", scenario, count(*) AS frames, ${dialect.quantile(0.5, 'iterations')} AS p50,
        ${dialect.quantile(0.95, 'iterations')} AS p95, max(iterations) AS largest
      FROM ${dialect.source('frame')} WHERE ${where} AND iterations IS NOT NULL
      GROUP BY "commit", scenario ORDER BY "commit", scenario`,
  },
]

export function writeStatement(
  question: LakeQuestion,
  dialect: Dialect,
  {
    filter,
    threshold,
    limit,
  }: { readonly filter: LakeFilter; readonly threshold: number | undefined; readonly limit: number },
) {
  const parameters: Record<string, string | number> = {}
  const conditions = ['1 = 1']
  for (const name of ['scenario', 'commit'] as const) {
    const value = filter[name]
    if (value === undefined) continue
    parameters[name] = value
    conditions.push(`"${name}" = ${dialect.parameter(name, 'text')}`)
  }
  if (question.threshold !== null) parameters.threshold = threshold ?? question.threshold
  const sql = `${question.sql(dialect, conditions.join(' AND '))} LIMIT ${Math.trunc(limit) + 1}`
  return { sql, parameters }
}

export type LakeRow = Readonly<Record<string, string | number | null>>

/** Engines may return large integers as strings. */
export function toRow(question: LakeQuestion, row: Readonly<Record<string, unknown>>): LakeRow {
  const entries = Object.entries(row).map(([name, value]) => [
    name,
    value == null ? null : question.numbers.includes(name) ? Number(value) : String(value),
  ])
  return Object.fromEntries(entries) as LakeRow
}
