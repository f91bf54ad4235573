import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { identifyProcess } from '@causeway/store'
import { z } from 'zod'
import { isGroupAlive, signalGroup } from './process-group.ts'

const schema = z.array(z.object({ pid: z.int().positive(), process: z.string() }))

type Entry = z.infer<typeof schema>[number]

const gracePeriodMs = 1000
const pollMs = 50

/** Process groups of running children, which the next server ends if this one is killed. */
export class PidFile {
  readonly #path: string
  readonly #onFailure: (error: unknown) => void
  #entries: readonly Entry[] = []

  constructor(path: string, onFailure: (error: unknown) => void) {
    this.#path = path
    this.#onFailure = onFailure
  }

  add(pid: number): void {
    const process = identifyProcess(pid)
    if (process === undefined) return
    this.#entries = [...this.#entries, { pid, process }]
    this.#write()
  }

  remove(pid: number): void {
    if (!this.#entries.some((entry) => entry.pid === pid)) return
    this.#entries = this.#entries.filter((entry) => entry.pid !== pid)
    this.#write()
  }

  /** Ends the groups of an earlier server. Returns their leaders. */
  async endRecordedGroups(): Promise<readonly number[]> {
    const recordedEntries = readEntries(this.#path)
    const remaining = recordedEntries.filter(isSameGroup)
    for (const { pid } of remaining) signalGroup(pid, 'SIGTERM')
    const deadline = performance.now() + gracePeriodMs
    while (remaining.some(({ pid }) => isGroupAlive(pid)) && performance.now() < deadline) await delay(pollMs)
    for (const { pid } of remaining) if (isGroupAlive(pid)) signalGroup(pid, 'SIGKILL')
    if (recordedEntries.length > 0) this.#write()
    return remaining.map(({ pid }) => pid)
  }

  /** Reports failures, so that servers also start and stop if the disk is full. */
  #write(): void {
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 })
      writeFileSync(`${this.#path}.new`, JSON.stringify(this.#entries), { mode: 0o600 })
      renameSync(`${this.#path}.new`, this.#path)
    } catch (error) {
      this.#onFailure(error)
    }
  }
}

/**
 * A pid is not reused while a group has its number, so a group of the same boot without its leader is the recorded
 * one.
 */
function isSameGroup(entry: Entry): boolean {
  const leader = identifyProcess(entry.pid)
  if (leader !== undefined) return leader === entry.process
  return getBootId(entry.process) === getBootId(identifyProcess(process.pid) ?? '') && isGroupAlive(entry.pid)
}

const getBootId = (identity: string): string => identity.split(':')[0] ?? ''

function readEntries(path: string): readonly Entry[] {
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    // The file is missing at the first start, or invalid.
    return []
  }
}
