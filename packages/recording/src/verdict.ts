import { open } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { isCausewayError } from '@causeway/protocol'
import type { Verdict } from './catalogue.ts'
import { frameTable } from './era.ts'
import { type FileState, isSameState, readFileState, requireDatabase } from './file-state.ts'
import { MalformedFile, walkPages } from './page-walk.ts'

/** Looks before a file that changes under the look is called busy, and the pause between them, ms. */
const tries = 3
const pauseMs = 25

/** Pages read to count frames: 2 MB of 4096-byte pages, some 80,000 frames. */
const maxFramePages = 512

/** What a file is, and whether that holds as long as its state does. */
export interface Judgement extends Verdict {
  readonly isFinal: boolean
}

const recording = (total_frames: number | null, isFinal: boolean): Judgement => ({
  reason: null,
  total_frames,
  isFinal,
})

const refused = (reason: string, isFinal = true): Judgement => ({ reason, total_frames: null, isFinal })

/**
 * Tells by a few of its pages whether a foreign file is a recording, without SQLite and without a copy. Whether it
 * is sound shows only when it is opened. `state` is the state just read.
 */
export async function judgeFile(path: string, state: FileState): Promise<Judgement> {
  let before = state
  for (let i = 0; i < tries; i++) {
    const judgement = await look(path, before)
    const after = await readFileState(path)
    if (isSameState(before, after)) return judgement
    before = after
    await wait(pauseMs)
  }
  return refused('RECORDING_BUSY', false)
}

async function look(path: string, state: FileState): Promise<Judgement> {
  try {
    requireDatabase(path, state)
  } catch (error) {
    if (isCausewayError(error)) return refused(error.code)
    throw error
  }
  // What is committed may stand in the log, and what stands in the file may not be committed.
  const isSettled = state.journal === null && state.wal === null
  const file = await open(path, 'r')
  try {
    const walk = walkPages(file, state.header, state.size)
    const root = (await walk.tables()).get(frameTable)
    if (root === undefined) return isSettled ? refused('NOT_A_RECORDING') : refused('RECORDING_BUSY', false)
    return recording(isSettled ? await walk.countRows(root, maxFramePages) : null, isSettled)
  } catch (error) {
    if (!(error instanceof MalformedFile)) throw error
    return isSettled ? refused('RECORDING_DAMAGED') : refused('RECORDING_BUSY', false)
  } finally {
    await file.close()
  }
}
