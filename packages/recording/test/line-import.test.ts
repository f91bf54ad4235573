import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { openLibrary, type RecordingLibrary } from '../src/index.ts'
import { folders, rootsOf } from './library-kit.ts'
import { bodyOf, frameLine, frameLines, runLine } from './run-lines.ts'

interface Opened {
  readonly library: RecordingLibrary
  readonly file: string
  readonly data: string
}

/** A library, and a file of lines below its root; `found` hears of each path that the roots have let through. */
async function overLines(
  t: Test,
  lines: readonly string[],
  found: (path: string) => void = () => {},
): Promise<Opened> {
  const { files, data } = folders(t)
  const file = join(files, 'lines.jsonl')
  writeFileSync(file, lines.join('\n'))
  const { folders: all, resolve } = rootsOf(files, data)
  const library = await openLibrary({
    dir: data,
    now: () => 1_700_000_000_000,
    roots: {
      folders: all,
      async resolve(path) {
        const real = await resolve(path)
        found(real)
        return real
      },
    },
  })
  t.teardown(() => library.close())
  return { library, file, data }
}

/** Where Linux lists what this process has open. */
const openFiles = '/proc/self/fd'
const unlisted = existsSync(openFiles) ? {} : { skip: 'the system does not list the open files of a process' }

/** Asserts that this process does not have the file open, where the system tells. */
const notHeld = (t: Test, file: string): boolean => t.notOk(isHeld(file), 'the file is closed', unlisted)

const isHeld = (file: string): boolean =>
  existsSync(openFiles) &&
  readdirSync(openFiles).some((fd) => {
    try {
      return readlinkSync(`${openFiles}/${fd}`) === file
    } catch {
      return false
    }
  })

const gone = (t: Test, { recorder }: RecordingLibrary): Promise<unknown> =>
  t.rejects(recorder.state('run'), { code: 'RECORDING_NOT_FOUND' }, 'there is no run')

verifies(
  'recording:recorder:import',
  'a file that goes away after it was found is told, and nothing is left',
  async (t) => {
    const { library } = await overLines(t, [runLine, ...frameLines(1, 3)], (path) => rmSync(path))
    await t.rejects(library.importRecording('run', 'lines.jsonl'), { code: 'RECORDING_NOT_FOUND' })
    await gone(t, library)
  },
)

verifies('recording:recorder:import', 'a pipe that nobody writes to is refused at once', async (t) => {
  const { library, file } = await overLines(t, [])
  rmSync(file)
  execFileSync('mkfifo', [file])
  await t.rejects(library.importRecording('run', 'lines.jsonl'), { code: 'NOT_A_RECORDING' })
  await gone(t, library)
})

verifies(
  'recording:recorder:import',
  'a line that does not fit leaves no part of a run, nor an open file',
  async (t) => {
    const { library, file } = await overLines(t, [runLine, ...frameLines(1, 3), '{"frame_id": 0}'])
    const data = { line: 5, path: 'frame_id', accepted: 0, last_frame_id: null }
    await t.rejects(library.importRecording('run', 'lines.jsonl'), { code: 'INVALID_FRAME', data })
    await gone(t, library)
    notHeld(t, file)
    writeFileSync(file, [runLine, ...frameLines(1, 4)].join('\n'))
    t.match(await library.importRecording('run', 'lines.jsonl'), { status: 'finished', total_frames: 4 })
  },
)

verifies('recording:recorder:import', 'a run of that name is not added to', async (t) => {
  const { library, file } = await overLines(t, frameLines(2, 5))
  await library.recorder.write('run', bodyOf([runLine, frameLine(1)]))
  await t.rejects(library.importRecording('run', 'lines.jsonl'), { code: 'RECORDING_EXISTS' })
  t.match(await library.recorder.state('run'), { total_frames: 1 })
  notHeld(t, file)
})

verifies('recording:recorder:import', 'a caller who gives up gets no run', async (t) => {
  const { library, file } = await overLines(t, [runLine, ...frameLines(1, 500)])
  const given = new AbortController()
  const progress = (): void => given.abort()
  const call = library.importRecording('run', 'lines.jsonl', { signal: given.signal, progress })
  await t.rejects(call, { code: 'CANCELLED' })
  await gone(t, library)
  notHeld(t, file)
})

verifies('recording:recorder:import', 'a file among the data of the server is refused', async (t) => {
  const { library, data } = await overLines(t, [])
  const own = join(data, 'own.jsonl')
  writeFileSync(own, runLine)
  await t.rejects(library.importRecording('run', own), { code: 'OUTSIDE_ROOTS' })
})
