import { missing, tool, type Work } from './work.ts'

const bookmark = ['replay', 'bookmark'] as const
const recording = 'drop'

/** A client that bookmarks frames of a foreign recording. */
export function notebookWork(): Work<readonly string[]> {
  const notes: string[] = []
  let count = 0
  return {
    name: 'replay',
    begin: async () => {},
    async step({ url }) {
      const note = `note-${count++}`
      await tool(url, bookmark, { recording, frame_id: 1, note }, { request: note })
      notes.push(note)
    },
    promised: () => [...notes],
    async check(t, { url }, promised) {
      const last = promised.at(-1)
      // The same request again: its answer was lost with the server, for all that its client knows.
      if (last !== undefined)
        await tool(url, bookmark, { recording, frame_id: 1, note: last }, { request: last })
      const { bookmarks } = await tool(url, bookmark, { recording })
      const found: string[] = bookmarks.map(({ note }: { note: string }) => note)
      t.same(missing(promised, found), [], 'no note is lost')
      t.equal(new Set(found).size, found.length, 'no note is doubled')
    },
  }
}
