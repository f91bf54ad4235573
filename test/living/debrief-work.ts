import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { copyPlots } from '../e2e/plot-client.ts'
import { missing, tool, type Work } from './work.ts'

const filename = 'sample.plot.json'
/** Maximum number of marks in the plot. */
const maxMarks = 40

const mark = (id: string) => ({
  type: 'Feature',
  id,
  properties: { dataType: 'reference-point', name: id },
  geometry: { type: 'Point', coordinates: [1, 50] },
})

/** Adds a mark in each step and deletes the oldest mark. */
export function debriefWork(
  root: string,
): Work<{ readonly there: readonly string[]; readonly gone: readonly string[] }> {
  const folder = join(root, 'plots')
  const [there, gone]: [string[], string[]] = [[], []]
  let count = 0
  const ids = (text: string): string[] => JSON.parse(text).features.map(({ id }: { id: string }) => id)
  return {
    name: 'debrief',
    env: { CAUSEWAY_PLOT_ROOTS: folder },
    async begin({ url }) {
      copyPlots(folder, ['sample'])
      await tool(url, ['debrief', 'open_plot'], { filename })
    },
    async step({ url }) {
      const id = `mark-${count++}`
      await tool(url, ['debrief', 'add_features'], { filename, features: [mark(id)] }, { request: id })
      there.push(id)
      const [oldest] = there
      if (oldest === undefined || there.length <= maxMarks) return
      // Until the response arrives, the mark may or may not exist.
      there.shift()
      await tool(
        url,
        ['debrief', 'delete_features'],
        { filename, ids: [oldest] },
        { request: `no-${oldest}` },
      )
      gone.push(oldest)
    },
    promised: () => ({ there: [...there], gone: [...gone] }),
    async check(t, { url }, promised, surroundings) {
      const onDisk = ids(readFileSync(join(folder, filename), 'utf8'))
      t.equal(new Set(onDisk).size, onDisk.length, 'the file is a complete plot')
      const { plots } = await tool(url, ['debrief', 'list_plots'], {})
      t.match(plots, [{ filename }])
      if (surroundings === 'later') return
      const { features } = await tool(url, ['debrief', 'get_features'], { filename, limit: 1000 })
      const found: string[] = features.map(({ id }: { id: string }) => id)
      t.same(missing(promised.there, found), [], 'no mark is lost')
      t.same(
        promised.gone.filter((id) => found.includes(id)),
        [],
        'no deleted mark exists',
      )
      t.equal(new Set(found).size, found.length, 'no mark is duplicated')
    },
  }
}
