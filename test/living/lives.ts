/** All works together, on one server. */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { Test } from 'tap'
import { databasesIn } from '../../server/test/backup/data-rows.ts'
import { debriefWork } from './debrief-work.ts'
import { helpWork } from './help-work.ts'
import { mindsWork } from './minds-work.ts'
import { notebookWork } from './notebook-work.ts'
import { recorderWork } from './recorder-work.ts'
import { serverWork } from './server-work.ts'
import { trmWork } from './trm-work.ts'
import type { Place, Surroundings, Work } from './work.ts'

/** One work for each store; `root` is a folder for what belongs to the user. */
export const everyWork = (root: string): readonly Work[] =>
  [
    recorderWork(),
    notebookWork(),
    helpWork(root),
    mindsWork(),
    debriefWork(root),
    trmWork(root),
    serverWork(),
  ] as readonly Work[]

/** Settings of a server that all works can use at once. */
export const settingsOf = (works: readonly Work[]): Readonly<Record<string, string>> =>
  Object.assign({ CAUSEWAY_RATE_LIMITS: 'off' }, ...works.map(({ env }) => env ?? {}))

/** What works came to. */
export interface Lived {
  /** Pieces of work that were answered, by store. */
  readonly steps: Readonly<Record<string, number>>
  /** Answers that were no success. */
  readonly refusals: readonly Error[]
}

/** Works until the server is gone or `signal` aborts; what is under way then is waited for. `atWork` hears when all are. */
export async function live(
  works: readonly Work[],
  place: Place,
  { signal, atWork }: { readonly signal?: AbortSignal; readonly atWork?: () => void } = {},
): Promise<Lived> {
  const steps: Record<string, number> = {}
  const idle = new Set(works.map(({ name }) => name))
  const refusals: Error[] = []
  const one = async (work: Work): Promise<void> => {
    steps[work.name] = 0
    while (signal?.aborted !== true) {
      try {
        await work.step(place)
        steps[work.name] = (steps[work.name] ?? 0) + 1
        if (idle.delete(work.name) && idle.size === 0) atWork?.()
      } catch (error) {
        // `fetch` says so of a server that is gone, or that went in the middle of its answer.
        if (!(error instanceof TypeError)) refusals.push(error as Error)
        return
      }
    }
  }
  await Promise.all(works.map(one))
  return { steps, refusals }
}

/** Holds a server against what was promised. */
export async function checkAll(
  t: Test,
  works: readonly Work[],
  place: Place,
  promised: ReadonlyMap<string, unknown>,
  surroundings: Surroundings = 'as they were',
): Promise<void> {
  for (const work of works)
    await t.test(work.name, (t) => work.check(t, place, promised.get(work.name), surroundings))
}

/** What every work was promised so far. */
export const promisesOf = (works: readonly Work[]): ReadonlyMap<string, unknown> =>
  new Map(works.map((work) => [work.name, work.promised()]))

/** Every database of a data folder is sound; asked of a copy, so that the next server finds what the last one left. */
export function checkFiles(t: Test, dir: string): void {
  const copy = mkdtempSync(join(tmpdir(), 'causeway-files-'))
  try {
    cpSync(dir, copy, { recursive: true, filter: (path) => !/snapshots|shadow\.git/.test(path) })
    for (const path of databasesIn(copy)) {
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
 * Names that a crash may leave and the next start takes away. The index that a killed build of the documentation was
 * writing stays until the next build writes it again, under the same name.
 */
export const leftovers = (dir: string): readonly string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter(
    (path) => /\.(part|tmp|new)$/.test(path) && !/^help.index-\d+\.db\.part$/.test(path),
  )

/** Random numbers of a seed, from 0 to 1: a run that fails can be run again. */
export function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
