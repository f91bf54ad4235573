import { randomUUID } from 'node:crypto'
import {
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** The holder updates the file's modification time at this interval. */
const heartbeatMs = 1000
/** A lock without a heartbeat for this long is stale. Needed for holders on another host, such as a container. */
const staleMs = 20_000

/**
 * Runs `work` while this process holds the lock file, and returns its result. Takes over the lock of a process that died
 * or stopped sending heartbeats. `now` returns monotonic milliseconds. Rejects when `signal` aborts the wait.
 *
 * @type {<T>(file: string, work: () => Promise<T>, options?: {
 *   say?: (line: string) => void, signal?: AbortSignal, pollMs?: number, now?: () => number }) => Promise<T>}
 */
export async function withLock(file, work, options = {}) {
  const { say = () => {}, signal, pollMs = 200, now = () => performance.now() } = options
  const own = JSON.stringify({ pid: process.pid, host: hostname(), id: randomUUID() })
  mkdirSync(dirname(file), { recursive: true })
  let seen
  let isAnnounced = false
  while (!acquire(file, own)) {
    const lock = readLock(file)
    if (lock === undefined) continue
    if (lock.text !== seen?.text || lock.heartbeat !== seen.heartbeat) seen = { ...lock, since: now() }
    const { pid } = parseHolder(lock.text)
    if (isDead(lock.text) || now() - seen.since > staleMs) {
      if (removeStale(file, lock.text)) say(`took over the lock of process ${pid}, which has ended`)
      continue
    }
    if (!isAnnounced) say(`waiting for process ${pid}, which is setting up this checkout`)
    isAnnounced = true
    await pause(pollMs, undefined, signal === undefined ? {} : { signal })
  }
  const heartbeat = setInterval(() => {
    if (readLock(file)?.text === own) utimesSync(file, new Date(), new Date())
  }, heartbeatMs)
  heartbeat.unref()
  try {
    return await work()
  } finally {
    clearInterval(heartbeat)
    if (readLock(file)?.text === own) rmSync(file, { force: true })
  }
}

/**
 * Removes a lock that was found stale. Another waiter may have replaced it since, so the file is renamed, compared, and
 * restored if it differs. Returns whether it was removed.
 *
 * @type {(file: string, stale: string) => boolean}
 */
export function removeStale(file, stale) {
  const renamed = `${file}.${randomUUID()}`
  try {
    renameSync(file, renamed)
  } catch (error) {
    if (error.code === 'ENOENT') return false
    throw error
  }
  try {
    if (readFileSync(renamed, 'utf8') === stale) return true
    linkIfAbsent(renamed, file)
    return false
  } finally {
    rmSync(renamed, { force: true })
  }
}

/** Creates the lock file unless it exists. Linking a complete file is atomic: no reader sees a partial one. */
function acquire(file, own) {
  const complete = `${file}.${randomUUID()}`
  writeFileSync(complete, own)
  try {
    return linkIfAbsent(complete, file)
  } finally {
    rmSync(complete, { force: true })
  }
}

function linkIfAbsent(from, to) {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

function readLock(file) {
  try {
    return { text: readFileSync(file, 'utf8'), heartbeat: statSync(file).mtimeMs }
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

function isDead(text) {
  const { pid, host } = parseHolder(text)
  return host === hostname() && !processIsAlive(pid)
}

/** The process that wrote a lock. A malformed lock has no holder and becomes stale by its age. */
function parseHolder(text) {
  try {
    const { pid, host } = JSON.parse(text)
    return { pid, host }
  } catch {
    return { pid: 0, host: '' }
  }
}

/** @type {(pid: number) => boolean} */
export function processIsAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
