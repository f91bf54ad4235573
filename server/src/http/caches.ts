import type { Cache } from '@causeway/app-kit'
import type { LegacySessions } from './legacy-sessions.ts'
import type { ToolListAnswers } from './tool-list.ts'

const mebibyte = 1024 ** 2

/** Encoding one list of tools again, ms. */
const encodeListMs = 2

/**
 * More than it costs to take a handshake out of the data file, and more than any other cache says: a session that a client may
 * come back to at any moment is put away when nothing else can be.
 */
const afterAllOthersMs = 2000

/** What the HTTP side holds in memory: lists of tools as they are sent, and sessions. */
export const httpCaches = (held: {
  readonly toolLists: ToolListAnswers
  readonly sessions: LegacySessions
}): readonly Cache[] => [
  {
    name: 'tool_lists',
    costMs: encodeListMs,
    isInHeap: false,
    mostBytes: 64 * mebibyte,
    ...held.toolLists.memory,
  },
  {
    name: 'sessions',
    costMs: afterAllOthersMs,
    isInHeap: true,
    mostBytes: 128 * mebibyte,
    ...held.sessions.memory,
  },
]
