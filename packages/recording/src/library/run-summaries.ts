import type { Migration } from '@causeway/store'
import type { Database } from 'better-sqlite3'
import type { RunStatus } from '../formats/run-schema.ts'
import type { Provenance, Value } from '../types.ts'

/** Largest values of a run; null if they were not recorded. */
export interface WorstValues {
  readonly worst_penetration_m: Value
  readonly worst_speed_m_s: Value
  /** Largest |change| of the system energy from frame to frame. */
  readonly worst_energy_step_j: Value
  readonly worst_iterations: Value
  readonly worst_residual: Value
}

export const worstFields = [
  'worst_penetration_m',
  'worst_speed_m_s',
  'worst_energy_step_j',
  'worst_iterations',
  'worst_residual',
] as const satisfies readonly (keyof WorstValues)[]

/** A kind outside `kinds` is excluded only if a law in `checked` detects it. */
export interface RunVerdict extends WorstValues {
  readonly checked: readonly string[]
  readonly not_checked: readonly string[]
  /** Number of findings that break a law. */
  readonly errors: number
  /** Kinds of these findings. */
  readonly kinds: readonly string[]
  readonly first_bad_frame: number | null
  readonly first_bad_kind: string | null
}

export interface RunSummary extends Omit<Provenance, 'tags'> {
  /** Id in the catalogue. */
  readonly recording: string
  readonly name: string
  readonly revision: string
  /** Unix time in ms when the run was sealed or the file was first diagnosed. */
  readonly sealed_ms: number
  readonly status: RunStatus | 'file'
  readonly frames: number
  readonly bodies: number
  readonly duration_s: number | null
  readonly tags: readonly string[]
  /** Null if not diagnosed. */
  readonly verdict: RunVerdict | null
}

/** List items are separated by line feeds. */
export const summaryMigration: Migration = {
  name: 'summaries',
  up: `
    CREATE TABLE recording_summary (
      recording TEXT PRIMARY KEY, name TEXT NOT NULL, revision TEXT NOT NULL, sealed_ms INTEGER NOT NULL,
      status TEXT NOT NULL, frames INTEGER NOT NULL, bodies INTEGER NOT NULL, duration_s REAL,
      "commit" TEXT, branch TEXT, scenario TEXT, seed INTEGER, host TEXT, engine_version TEXT, tags TEXT NOT NULL,
      is_diagnosed INTEGER NOT NULL, checked TEXT NOT NULL, not_checked TEXT NOT NULL, errors INTEGER NOT NULL,
      kinds TEXT NOT NULL, first_bad_frame INTEGER, first_bad_kind TEXT,
      worst_penetration_m REAL, worst_speed_m_s REAL, worst_energy_step_j REAL, worst_iterations REAL, worst_residual REAL
    ) STRICT;
    CREATE INDEX recording_summary_scenario ON recording_summary (scenario, sealed_ms);
  `,
}

const factFields = [
  ...['recording', 'name', 'revision', 'sealed_ms', 'status', 'frames', 'bodies', 'duration_s'],
  ...['commit', 'branch', 'scenario', 'seed', 'host', 'engine_version'],
] as const

const columns = [
  ...factFields,
  ...[
    'tags',
    'is_diagnosed',
    'checked',
    'not_checked',
    'errors',
    'kinds',
    'first_bad_frame',
    'first_bad_kind',
  ],
  ...worstFields,
]

type FlatRow = Omit<RunSummary, 'tags' | 'verdict'> &
  Omit<RunVerdict, 'checked' | 'not_checked' | 'kinds'> & {
    readonly tags: string
    readonly is_diagnosed: number
    readonly checked: string
    readonly not_checked: string
    readonly kinds: string
  }

type SummarySize = Pick<RunSummary, 'recording' | 'revision' | 'bodies' | 'duration_s'>

const prepareStatements = (db: Database) => ({
  put: db.prepare(
    `INSERT OR REPLACE INTO recording_summary (${columns.map((name) => `"${name}"`).join(', ')})
     VALUES (${columns.map((name) => `@${name}`).join(', ')})`,
  ),
  find: db.prepare<[string], FlatRow>('SELECT * FROM recording_summary WHERE recording = ?'),
  list: db.prepare<[], FlatRow>('SELECT * FROM recording_summary ORDER BY sealed_ms, recording'),
  listScenario: db.prepare<[string], FlatRow>(
    'SELECT * FROM recording_summary WHERE scenario = ? ORDER BY sealed_ms, recording',
  ),
  listSizes: db.prepare<[], SummarySize>(
    'SELECT recording, revision, bodies, duration_s FROM recording_summary',
  ),
  remove: db.prepare<[string]>('DELETE FROM recording_summary WHERE recording = ?'),
})

export class RunSummaries {
  readonly #statements: ReturnType<typeof prepareStatements>

  constructor(db: Database) {
    this.#statements = prepareStatements(db)
  }

  put({ tags, verdict, ...facts }: RunSummary): void {
    const { checked = [], not_checked = [], kinds = [], ...findings } = verdict ?? unknownVerdict
    this.#statements.put.run({
      ...facts,
      ...findings,
      is_diagnosed: verdict === null ? 0 : 1,
      tags: join(tags),
      checked: join(checked),
      not_checked: join(not_checked),
      kinds: join(kinds),
    })
  }

  find(recording: string): RunSummary | undefined {
    const row = this.#statements.find.get(recording)
    return row && toSummary(row, new Map())
  }

  /** Lists summaries sorted by `sealed_ms`. */
  list(scenario?: string): readonly RunSummary[] {
    const { list, listScenario } = this.#statements
    const rows = scenario === undefined ? list.all() : listScenario.all(scenario)
    const lists = new Map<string, readonly string[]>()
    return rows.map((row) => toSummary(row, lists))
  }

  listSizes(): ReadonlyMap<string, SummarySize> {
    return new Map(this.#statements.listSizes.all().map((size) => [size.recording, size]))
  }

  remove(recording: string): void {
    this.#statements.remove.run(recording)
  }
}

const unknownVerdict: Partial<RunVerdict> & WorstValues = {
  errors: 0,
  first_bad_frame: null,
  first_bad_kind: null,
  worst_penetration_m: null,
  worst_speed_m_s: null,
  worst_energy_step_j: null,
  worst_iterations: null,
  worst_residual: null,
}

const join = (list: readonly string[]): string => list.join('\n')

/** Caches split lists, because most runs have the same ones. */
function toSummary(row: FlatRow, lists: Map<string, readonly string[]>): RunSummary {
  const splitList = (text: string): readonly string[] => {
    let list = lists.get(text)
    if (list === undefined) {
      list = text === '' ? [] : text.split('\n')
      lists.set(text, list)
    }
    return list
  }
  return {
    recording: row.recording,
    name: row.name,
    revision: row.revision,
    sealed_ms: row.sealed_ms,
    status: row.status,
    frames: row.frames,
    bodies: row.bodies,
    duration_s: row.duration_s,
    commit: row.commit,
    branch: row.branch,
    scenario: row.scenario,
    seed: row.seed,
    host: row.host,
    engine_version: row.engine_version,
    tags: splitList(row.tags),
    verdict:
      row.is_diagnosed === 0
        ? null
        : {
            checked: splitList(row.checked),
            not_checked: splitList(row.not_checked),
            errors: row.errors,
            kinds: splitList(row.kinds),
            first_bad_frame: row.first_bad_frame,
            first_bad_kind: row.first_bad_kind,
            worst_penetration_m: row.worst_penetration_m,
            worst_speed_m_s: row.worst_speed_m_s,
            worst_energy_step_j: row.worst_energy_step_j,
            worst_iterations: row.worst_iterations,
            worst_residual: row.worst_residual,
          },
  }
}
