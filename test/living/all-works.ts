/** Runs the works of all stores on one server. */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { Test } from 'tap'
import { listDatabases } from '../../server/test/backup/data-rows.ts'
import { debriefWork } from './debrief-work.ts'
import { helpWork } from './help-work.ts'
import { mindsWork } from './minds-work.ts'
import { notebookWork } from './notebook-work.ts'
import { recorderWork } from './recorder-work.ts'
import { serverWork } from './server-work.ts'
import { trmWork } from './trm-work.ts'
import type { Place, Surroundings, Work } from './work.ts'

/** Creates a work for each store. `root` is the folder for the user's files. */
export const createWorks = (root: string): readonly Work[] =>
  [
    recorderWork(),
    notebookWork(),
    helpWork(root),
    mindsWork(),
    debriefWork(root),
    trmWork(root),
    serverWork(),
  ] as readonly Work[]

/** Returns the settings of a server for these works. */
export const mergeSettings = (works: readonly Work[]): Readonly<Record<string, string>> =>
  Object.assign({ CAUSEWAY_RATE_LIMITS: 'off' }, ...works.map(({ env }) => env ?? {}))

/** The result of running works. */
export interface RunResult {
  /** Numbers of successful steps, by store. */
  readonly steps: Readonly<Record<string, number>>
  /** Errors of failed steps. */
  readonly failures: readonly Error[]
}

/**
 * Repeats the steps of every work until the server exits or `signal` aborts. Waits for the steps in flight. `atWork` is called
 * once when every work has completed a step.
 */
export async function runWorks(
  works: readonly Work[],
  place: Place,
  { signal, atWork }: { readonly signal?: AbortSignal; readonly atWork?: () => void } = {},
): Promise<RunResult> {
  const steps: Record<string, number> = {}
  const idle = new Set(works.map(({ name }) => name))
  const failures: Error[] = []
  const one = async (work: Work): Promise<void> => {
    steps[work.name] = 0
    while (signal?.aborted !== true) {
      try {
        await work.step(place)
        steps[work.name] = (steps[work.name] ?? 0) + 1
        if (idle.delete(work.name) && idle.size === 0) atWork?.()
      } catch (error) {
        // `fetch` throws a TypeError if the server exited before or during the response.
        if (!(error instanceof TypeError)) failures.push(error as Error)
        return
      }
    }
  }
  await Promise.all(works.map(one))
  return { steps, failures }
}

/** Runs the check of every work against a server. */
export async function checkAll(
  t: Test,
  works: readonly Work[],
  place: Place,
  promised: ReadonlyMap<string, unknown>,
  surroundings: Surroundings = 'unchanged',
): Promise<void> {
  for (const work of works)
    await t.test(work.name, (t) => work.check(t, place, promised.get(work.name), surroundings))
}

/** Returns what the server has acknowledged to each work, by name. */
export const readPromised = (works: readonly Work[]): ReadonlyMap<string, unknown> =>
  new Map(works.map((work) => [work.name, work.promised()]))

/** Checks the integrity of every database in a data folder. Opens copies, so that the files are not changed. */
export function checkFiles(t: Test, dir: string): void {
  const copy = mkdtempSync(join(tmpdir(), 'causeway-files-'))
  try {
    cpSync(dir, copy, { recursive: true, filter: (path) => !/snapshots/.test(path) })
    for (const path of listDatabases(copy)) {
      const db = new Database(join(copy, path))
      t.equal(db.pragma('integrity_check', { simple: true }), 'ok', path)
      t.same(db.pragma('foreign_key_check'), [], path)
      db.close()
    }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

/**
 * Returns temporary files that a crash can leave and that the next start must remove. Excludes the unfinished index of a
 * killed documentation build, which the next build overwrites.
 */
export const findLeftovers = (dir: string): readonly string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter(
    (path) => /\.(part|tmp|new)$/.test(path) && !/^help.index-\d+\.db\.part$/.test(path),
  )

/** Creates a generator of random numbers in [0, 1) with a seed, so that a failing run can be repeated. */
export function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
