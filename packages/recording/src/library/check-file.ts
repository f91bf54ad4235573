import { open } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { isCausewayError } from '@causeway/protocol'
import { frameTable } from '../formats/schema-era.ts'
import { MalformedFile, SqlitePages } from '../formats/sqlite-pages.ts'
import type { FileCheck } from './catalogue.ts'
import { type FileState, isSameState, readFileState, requireDatabase } from './file-state.ts'
import { isFrameFile } from './frame-file.ts'

const maxAttempts = 3
const retryDelayMs = 25

/** https://mcap.dev/spec#magic */
const mcapMagic = Buffer.from('\x89MCAP0\r\n', 'latin1')

/** Maximum pages read to count frames: 2 MB of 4096-byte pages, about 80,000 frames. */
const maxFramePages = 512

interface CheckResult extends FileCheck {
  readonly isFinal: boolean
}

const recording = (total_frames: number | null, isFinal: boolean): CheckResult => ({
  reason: null,
  total_frames,
  isFinal,
})

const reject = (reason: string, isFinal = true): CheckResult => ({ reason, total_frames: null, isFinal })

/** Checks a few pages of a foreign file. Damage in other pages is detected only when the file is opened. */
export async function checkFile(path: string, state: FileState): Promise<CheckResult> {
  if (isFrameFile(path)) return checkFrameFile(state)
  let before = state
  for (let i = 0; i < maxAttempts; i++) {
    const result = await check(path, before)
    const after = await readFileState(path)
    if (isSameState(before, after)) return result
    before = after
    await wait(retryDelayMs)
  }
  return reject('RECORDING_BUSY', false)
}

function checkFrameFile({ header }: FileState): CheckResult {
  const isFrames =
    header.subarray(0, mcapMagic.length).equals(mcapMagic) ||
    /^\s*\{\s*"(run|frame_id)"/.test(header.toString('utf8'))
  return isFrames ? recording(null, true) : reject('NOT_A_RECORDING')
}

async function check(path: string, state: FileState): Promise<CheckResult> {
  try {
    requireDatabase(path, state)
  } catch (error) {
    if (isCausewayError(error)) return reject(error.code)
    throw error
  }
  // If a log or journal exists, the log may contain committed pages, or the file uncommitted ones.
  const isSettled = state.journal === null && state.wal === null
  const file = await open(path, 'r')
  try {
    const pages = new SqlitePages(file, state.header, state.size)
    const root = (await pages.readTables()).get(frameTable)
    if (root === undefined) return isSettled ? reject('NOT_A_RECORDING') : reject('RECORDING_BUSY', false)
    return recording(isSettled ? await pages.countRows(root, maxFramePages) : null, isSettled)
  } catch (error) {
    if (!(error instanceof MalformedFile)) throw error
    return isSettled ? reject('RECORDING_DAMAGED') : reject('RECORDING_BUSY', false)
  } finally {
    await file.close()
  }
}
