/** The processes of trials, which belong to no step: kept in files beside the work copies. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { endLeftover, type ProcessMark } from './runner/process-group.ts'

/** Keeps who runs in a trial, to be found by the next server if this one is killed. */
export async function keepMark(file: string, mark: ProcessMark): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeFile(file, JSON.stringify(mark), { mode: 0o600 })
}

/** Ends what trials of an earlier server left running. */
export async function endTrials(workDir: string): Promise<void> {
  for (const name of await readdir(workDir).catch((): string[] => [])) {
    const [, marker] = /^(.+)\.mark$/.exec(name) ?? []
    if (marker === undefined) continue
    const text = await readFile(join(workDir, name), 'utf8').catch(() => '')
    await endLeftover(markIn(text), marker)
  }
}

/** A mark that a crash cut off is none; the marker in the environment finds the process all the same. */
function markIn(text: string): ProcessMark | null {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
