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

/** How often the holder touches its lock, and after how long without a touch it counts as gone, in ms. */
const beat = 1000
const silence = 20_000
/** How many looks in a row must find the same silent lock, since a sleeping laptop wakes with old times. */
const looks = 10

/**
 * Runs `work` while this process alone holds the lock file, and returns its result. A lock whose process is dead on
 * this host, or that stays untouched for 20 s, is taken over. Throws when `signal` aborts the wait.
 *
 * @type {<T>(file: string, work: () => Promise<T>, options?: {
 *   say?: (line: string) => void, signal?: AbortSignal, lookEveryMs?: number,
 *   isAlive?: (pid: number) => boolean, now?: () => number }) => Promise<T>}
 */
export async function withLock(file, work, options = {}) {
  const { say = () => {}, signal, lookEveryMs = 200, isAlive = processIsAlive, now = Date.now } = options
  const mine = JSON.stringify({ pid: process.pid, host: hostname(), id: randomUUID() })
  mkdirSync(dirname(file), { recursive: true })
  let announced = false
  let silent = { text: '', count: 0 }
  while (!acquire(file, mine)) {
    const held = look(file)
    if (held === undefined) continue
    silent =
      now() - held.touched > silence
        ? { text: held.text, count: countOf(silent, held.text) + 1 }
        : { text: '', count: 0 }
    if (isDead(held.text, isAlive) || silent.count >= looks) {
      if (removeStale(file, held.text))
        say(`took over the lock of process ${holderOf(held.text).pid}, which is gone`)
      continue
    }
    if (!announced) say(`waiting for process ${holderOf(held.text).pid}, which is setting up this checkout`)
    announced = true
    await pause(lookEveryMs, undefined, signal === undefined ? {} : { signal })
  }
  const heart = setInterval(() => touch(file, mine), beat)
  heart.unref()
  try {
    return await work()
  } finally {
    clearInterval(heart)
    if (look(file)?.text === mine) rmSync(file, { force: true })
  }
}

/**
 * Removes the lock that was judged stale; true when it was that one. Another waiter may have replaced it since the
 * judgement, so the file is renamed aside, compared, and put back when it is somebody else's.
 *
 * @type {(file: string, judged: string) => boolean}
 */
export function removeStale(file, judged) {
  const aside = `${file}.${randomUUID()}`
  try {
    renameSync(file, aside)
  } catch (error) {
    if (error.code === 'ENOENT') return false
    throw error
  }
  try {
    if (readFileSync(aside, 'utf8') === judged) return true
    linkIfAbsent(aside, file)
    return false
  } finally {
    rmSync(aside, { force: true })
  }
}

/** True when the lock was free. `link` of a complete file is atomic: nobody ever reads a lock half written. */
function acquire(file, mine) {
  const complete = `${file}.${randomUUID()}`
  writeFileSync(complete, mine)
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

function look(file) {
  try {
    return { text: readFileSync(file, 'utf8'), touched: statSync(file).mtimeMs }
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

function touch(file, mine) {
  if (look(file)?.text === mine) utimesSync(file, new Date(), new Date())
}

function countOf(silent, text) {
  return silent.text === text ? silent.count : 0
}

function isDead(text, isAlive) {
  const { pid, host } = holderOf(text)
  return host === hostname() && !isAlive(pid)
}

/** The process that wrote a lock; a text that no version of this file wrote belongs to nobody and waits for the age rule. */
function holderOf(text) {
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
