import { getJson } from '../e2e/http.ts'
import { tool, type Work } from './work.ts'

const session = 'the-one-who-chooses'
const choices = ['drop', 'stack', 'slide_at_45'] as const

/** How long the audit may gather entries before they are in its file, ms; far more than it takes. */
const gathered = 3000

/** A client whose state the server keeps, and whose calls it writes down. */
export function serverWork(): Work<{
  readonly choice: string | undefined
  readonly requests: readonly string[]
}> {
  let choice: string | undefined
  let count = 0
  const answered: { readonly request: string; readonly atMs: number }[] = []
  return {
    name: 'server',
    begin: async () => {},
    async step({ url }) {
      const next = choices[count % choices.length] ?? choices[0]
      const request = `choice-${count++}`
      // Not known while it is under way: both are right then.
      choice = undefined
      await tool(url, ['replay', 'load_recording'], { path: `${next}.db` }, { session, request })
      choice = next
      answered.push({ request, atMs: Date.now() })
    },
    promised() {
      // The server lived at least until its last answer; what it answered just before may go with it, now or never.
      const until = (answered.at(-1)?.atMs ?? 0) - gathered
      const kept = answered.filter(({ atMs }) => atMs < until)
      answered.splice(0, answered.length, ...kept)
      return { choice, requests: kept.map(({ request }) => request) }
    },
    async check(t, { url }, promised) {
      if (promised.choice !== undefined) {
        const { recording } = await tool(url, ['replay', 'get_metadata'], {}, { session })
        t.match(recording, new RegExp(promised.choice), 'the state of the client is as its last call left it')
      }
      const audit = async (query: string): Promise<readonly string[]> => {
        const { json } = await getJson(url, `/api/apps/causeway/audit?tool=load_recording&${query}`)
        return json.entries.map(({ metadata }: { metadata: { request_id: string } }) => metadata.request_id)
      }
      const newest = await audit('limit=200')
      t.equal(new Set(newest).size, newest.length, 'the audit has each call once')
      for (const request of promised.requests.slice(-3))
        t.same(await audit(`request_id=${request}`), [request], 'the audit has the calls that were answered')
    },
  }
}
