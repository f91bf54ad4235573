import { setTimeout as wait } from 'node:timers/promises'
import { CausewayError } from '@causeway/protocol'
import { findRunning, isRunning, type ServerNote } from '../running.ts'
import { command, misuse } from './command.ts'

/** What the server may take beside its own deadline for calls, ms: streams are ended, files are closed. */
const closingMs = 10_000
const pollMs = 50

export const stopCommand = command({
  name: 'stop',
  about: 'stop the server of the data folder after the calls under way',
  forms: [''],
  details: `It signals the process that wrote down to serve this folder, and no other: one that has got its number since is
told apart by the time of its start.`,
  flags: {},
  settings: ['--data-dir'],
  exits: { 0: 'it is stopped, or did not run', 1: 'it did not stop in time, or may not be signalled' },
  async run({ words, config, say, note }) {
    if (words.length > 0) throw misuse('stop', `stop takes no words: ${words.join(' ')}`)
    const { dataDir } = config()
    const found = findRunning(dataDir)
    if (found.state === 'elsewhere')
      throw notStopped(found.server, `it runs on ${found.server.host}`, 'stop it there')
    if (found.state !== 'running') {
      say(`not running: no server uses ${dataDir}`)
      return 0
    }
    const { server } = found
    signal(server)
    note(`waiting for pid ${server.pid}`)
    await untilGone(server)
    say(`stopped: pid ${server.pid}, ${server.url}`)
    return 0
  },
})

function signal(server: ServerNote): void {
  // There a signal ends a process at once, in the middle of its calls.
  if (process.platform === 'win32')
    throw notStopped(server, 'Windows has no way to ask it', 'press Ctrl-C in the window that it runs in')
  try {
    process.kill(server.pid, 'SIGTERM')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // It ended by itself a moment ago.
    if (code === 'ESRCH') return
    throw notStopped(server, `it may not be signalled (${code})`, 'stop it as the user that started it')
  }
}

async function untilGone(server: ServerNote): Promise<void> {
  const patienceMs = server.shutdown_ms + closingMs
  const deadline = performance.now() + patienceMs
  while (isRunning(server)) {
    if (performance.now() > deadline)
      throw notStopped(
        server,
        `it did not end within ${Math.round(patienceMs / 1000)} s`,
        `see causeway logs, or end it at once: kill -9 ${server.pid}`,
      )
    await wait(pollMs)
  }
}

const notStopped = (server: ServerNote, why: string, remedy: string): CausewayError =>
  new CausewayError('STOP_FAILED', `the server with pid ${server.pid} was not stopped: ${why}`, {
    data: { pid: server.pid, url: server.url },
    remedy,
  })
