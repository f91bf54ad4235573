import { findWellStep, observeWell } from '../../packages/app-minds/test/killed/wells.ts'
import { postMcp } from '../e2e/http.ts'
import { missing, type Place, tool, type Work } from './work.ts'

const mind_id = 'mara'

/** Makes a decision in each step, with a new well in sight that the mind remembers. */
export function mindsWork(): Work<readonly number[]> {
  const seen: number[] = []
  let count = 0
  const decide = (url: string, step: number) =>
    tool(url, ['minds', 'decide_action'], {
      mind_id,
      observation: observeWell(mind_id, step),
      request_id: `${mind_id}-${step}`,
    })
  const memories = async ({ url }: Place): Promise<{ id: string; content: string }[]> => {
    const lists = ['memories?limit=1000', 'daily_memories'].map(async (list) => {
      const { json } = await postMcp(url, 'resources/read', { uri: `mind://${mind_id}/${list}` })
      return JSON.parse(json.result.contents[0].text)
    })
    return (await Promise.all(lists)).flat()
  }
  return {
    name: 'minds',
    env: { CAUSEWAY_MINDS_LIMITS: '{"daily_memories": 5000}' },
    async begin({ url }) {
      await tool(url, ['minds', 'create_mind'], { mind_id, config: { traits: [] } })
      // The first decision waits until the memory index is trained.
      await decide(url, count++)
    },
    async step({ url }) {
      const step = count++
      await decide(url, step)
      seen.push(step)
      if (step % 10 === 0) await tool(url, ['minds', 'consolidate_memories'], { mind_id })
    },
    promised: () => seen.slice(-900),
    async check(t, place, promised) {
      const last = promised.at(-1)
      if (last !== undefined)
        t.match(
          await decide(place.url, last),
          { replayed: true },
          'a repeated request returns the last result',
        )
      const found = await memories(place)
      const steps = found.flatMap(({ content }) => findWellStep(content) ?? [])
      t.same(missing(promised, steps), [], 'no memory is lost')
      t.equal(new Set(steps).size, steps.length, 'no memory is duplicated')
      t.equal(new Set(found.map(({ id }) => id)).size, found.length, 'no id is duplicated')
    },
  }
}
