import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import type { ColumnSelection, FrameWindow } from '@causeway/recording'
import type { AnalysisContext } from '@causeway/recording/worker'
import t, { type Test } from 'tap'
import { prepareCopy } from '../../../recording/src/library/prepare.ts'
import { openReader } from '../../../recording/src/reader/open-reader.ts'
import { findBodyNames } from '../../src/analysis/body-names.ts'
import { parseSeriesName, type SeriesPlan } from '../../src/domain/series/series-name.ts'
import { createSampler, selectColumns } from '../../src/domain/series/series-sample.ts'
import { fixtures } from '../replay-kit.ts'

/** Returns the names of all quantities, which the error for an unknown name lists. */
function listQuantities(prefix: string): readonly string[] {
  try {
    parseSeriesName(`${prefix}nothing`, (id) => id)
  } catch (error) {
    if (error instanceof CausewayError) return (error.data as { known: readonly string[] }).known
  }
  throw new Error('the name is known')
}

function openFixture(t: Test, name: string) {
  const file = join(t.testdir(), `${name}.db`)
  copyFileSync(join(fixtures, `${name}.db`), file)
  prepareCopy(file, false)
  const reader = openReader(file)
  t.teardown(() => reader.close())
  const summary = reader.summary()
  const call = { signal: new AbortController().signal, progress() {} }
  const readWindows = async (selection?: ColumnSelection): Promise<readonly FrameWindow[]> => {
    const found: FrameWindow[] = []
    const windows = reader.windows(summary).over({ start: null, end: null }, call, selection)
    for await (const window of windows) found.push(window)
    return found
  }
  return { summary, readWindows }
}

for (const name of ['slide_at_45', 'era_unified'])
  t.test(`${name}: every series has the same values with selected columns as with all columns`, async (t) => {
    const { summary, readWindows } = openFixture(t, name)
    const whole = await readWindows()
    const body = summary.bodies[0]?.body_id ?? 0
    const prefixes = ['', `body.${body}.`, `pair.${body}.floor.`]
    const names = prefixes.flatMap((prefix) => listQuantities(prefix).map((quantity) => prefix + quantity))
    const listValues = (plan: SeriesPlan, windows: readonly FrameWindow[]): number[] => {
      const sample = createSampler(plan, summary)
      return windows.flatMap((window) => {
        const rows = Array.from({ length: window.to - window.from }, (_, i) => window.from + i)
        return rows.map((row) => sample(window, row))
      })
    }
    const known = new Set<string>()
    for (const name of names) {
      const plan = parseSeriesName(name, (id) => id)
      const wanted = listValues(plan, whole)
      if (wanted.some(Number.isFinite)) known.add(name)
      t.same(listValues(plan, await readWindows(selectColumns([plan]))), wanted, name)
    }
    t.ok(known.size > 20, 'the values are recorded')
  })

t.test('names of environment bodies are read until each requested body has one', async (t) => {
  const { summary, readWindows } = openFixture(t, 'slide_at_45')
  const [window] = await readWindows()
  if (window === undefined) throw new Error('the recording has no frames')
  const floor = summary.environment_bodies[0]?.body_id ?? 0
  const countWindows = async (ids: readonly number[]): Promise<number> => {
    let count = 0
    async function* over() {
      for (; count < 3; count++) yield window
    }
    const unnamed = { ...summary, geometry: [] }
    const context = { windows: { over }, summary: unnamed } as unknown as AnalysisContext
    await findBodyNames({ range: { start: null, end: null }, ids }, context)
    return count
  }
  t.equal(await countWindows([floor]), 0, 'only the first window')
  t.equal(await countWindows([floor, 999]), 3, 'all windows if a body has no contact')
})
