import { missing, tool, type Work } from './work.ts'

const bookmark = ['replay', 'bookmark'] as const
/** A recording has at most 1,000 bookmarks, so that long runs need several. */
const recordings = [
  'drop',
  'stack',
  'incline_slides',
  'incline_sticks',
  'slide_at_45',
  'penetration',
] as const
const bookmarksPerRecording = 900

/** Returns the recording of a note. */
function findRecording(note: string): string {
  const index = Math.floor(Number(note.slice('note-'.length)) / bookmarksPerRecording)
  return recordings[index % recordings.length] as string // never empty
}

/** Adds a bookmark. A repeated call has the same request id. */
async function addBookmark(url: string, note: string): Promise<void> {
  const args = { recording: findRecording(note), frame_id: 1, note }
  await tool(url, bookmark, args, { request: note })
}

/** Bookmarks a frame of a foreign recording in each step. */
export function notebookWork(): Work<readonly string[]> {
  const notes: string[] = []
  let count = 0
  return {
    name: 'replay',
    begin: async () => {},
    async step({ url }) {
      const note = `note-${count++}`
      await addBookmark(url, note)
      notes.push(note)
    },
    promised: () => [...notes],
    async check(t, { url }, promised) {
      const last = promised.at(-1)
      // Repeats the last request, as a client that received no response would.
      if (last !== undefined) await addBookmark(url, last)
      const found: string[] = []
      for (const recording of new Set(['note-0', ...promised].map(findRecording))) {
        const { bookmarks } = await tool(url, bookmark, { recording })
        found.push(...bookmarks.map(({ note }: { note: string }) => note))
      }
      t.same(missing(promised, found), [], 'no note is lost')
      t.equal(new Set(found).size, found.length, 'no note is duplicated')
    },
  }
}
