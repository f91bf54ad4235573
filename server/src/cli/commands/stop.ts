import { setTimeout as wait } from 'node:timers/promises'
import { type CausewayError, canSignal } from '@causeway/protocol'
import { ServerError } from '../../errors.ts'
import { findServer, isRunning, type ServerRecord } from '../../process/server-file.ts'
import { defineCommand } from '../command.ts'

/** Time to close streams and files after the last call. */
const closeTimeoutMs = 10_000
const pollMs = 50

export const stopCommand = defineCommand({
  name: 'stop',
  about: 'stop the server of the data folder after its running calls have finished',
  details: `Sends SIGTERM to the server that uses the data folder, and waits until it has exited. Another process that got the same pid
after a crash is never signalled.`,
  exits: {
    0: 'the server is stopped, or was not running',
    1: 'the server did not stop in time, or may not be signalled',
  },
  async run({ config, print, note }) {
    const { dataDir } = config()
    const serverState = findServer(dataDir)
    if (serverState.state === 'elsewhere')
      throw createStopError(serverState.server, `it runs on ${serverState.server.host}`, 'stop it there')
    if (serverState.state !== 'running') {
      print(`no server is running with the data in ${dataDir}`)
      return 0
    }
    const { server } = serverState
    sendSignal(server)
    note(`stopping the server at ${server.url}; running calls may finish`)
    await waitForExit(server)
    print(`stopped: pid ${server.pid}, ${server.url}`)
    return 0
  },
})

function sendSignal(server: ServerRecord): void {
  if (!canSignal())
    throw createStopError(
      server,
      'Windows cannot ask a process to stop',
      'press Ctrl-C in the window of the server',
    )
  try {
    process.kill(server.pid, 'SIGTERM')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ESRCH') return
    throw createStopError(
      server,
      `this user may not stop it (${code})`,
      'stop it as the user that started it',
    )
  }
}

async function waitForExit(server: ServerRecord): Promise<void> {
  const timeoutMs = server.shutdown_ms + closeTimeoutMs
  const deadline = performance.now() + timeoutMs
  while (isRunning(server)) {
    if (performance.now() > deadline)
      throw createStopError(
        server,
        `it did not exit within ${Math.round(timeoutMs / 1000)} s`,
        `see causeway logs, or kill it: kill -9 ${server.pid}`,
      )
    await wait(pollMs)
  }
}

const createStopError = (server: ServerRecord, reason: string, remedy: string): CausewayError =>
  new ServerError(
    'STOP_FAILED',
    `the server at ${server.url} (pid ${server.pid}) was not stopped: ${reason}`,
    {
      data: { pid: server.pid, url: server.url },
      remedy,
    },
  )
