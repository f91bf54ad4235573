import { getJson } from '../e2e/http.ts'
import { tool, type Work } from './work.ts'

const session = 'chooser'
const choices = ['drop', 'stack', 'slide_at_45'] as const

/** Upper bound for the time until audit entries are written to the file, in milliseconds. */
const auditDelayMs = 3000

/** Loads a recording in each step. Checks the client state and the audit. */
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
      // While the call is in flight, the old and the new choice are both valid.
      choice = undefined
      await tool(url, ['replay', 'load_recording'], { path: `${next}.db` }, { session, request })
      choice = next
      answered.push({ request, atMs: Date.now() })
    },
    promised() {
      // The server ran at least until its last response. Audit entries just before that may be lost.
      const until = (answered.at(-1)?.atMs ?? 0) - auditDelayMs
      const audited = answered.filter(({ atMs }) => atMs < until)
      answered.splice(0, answered.length, ...audited)
      return { choice, requests: audited.map(({ request }) => request) }
    },
    async check(t, { url }, promised) {
      if (promised.choice !== undefined) {
        const { recording } = await tool(url, ['replay', 'get_metadata'], {}, { session })
        t.match(recording, new RegExp(promised.choice), 'the client state is that of its last call')
      }
      const audit = async (query: string): Promise<readonly string[]> => {
        const { json } = await getJson(url, `/api/apps/causeway/audit?tool=load_recording&${query}`)
        return json.entries.map(({ metadata }: { metadata: { request_id: string } }) => metadata.request_id)
      }
      const newest = await audit('limit=200')
      t.equal(new Set(newest).size, newest.length, 'each call has one audit entry')
      for (const request of promised.requests.slice(-3))
        t.same(await audit(`request_id=${request}`), [request], 'each answered call has an audit entry')
    },
  }
}
