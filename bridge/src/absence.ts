import { unreachable } from './answer.ts'
import type { Autostart } from './autostart.ts'
import type { Waiting } from './wait.ts'

/**
 * Waits until a server that is away may be there again; throws SERVER_UNREACHABLE with `error` as its cause when it is
 * not in time. `wasThere`: the connection that broke had been open, so there is nothing to start.
 */
export type AwaitServer = (waiting: Waiting, error: unknown, wasThere: boolean) => Promise<void>

/** `autostart` starts a server where none runs; undefined where that is nobody's wish. */
export function createAwaitServer(url: URL, autostart: Autostart | undefined): AwaitServer {
  return async (waiting, error, wasThere) => {
    const isStarted = autostart === undefined || wasThere || (await waiting.until(autostart.start()))
    if (!isStarted || !(await waiting.turn()))
      throw unreachable(url, error, {
        waitedMs: waiting.waitedMs(),
        remedy: isStarted ? undefined : `it is being started, call again; its log is ${autostart?.logFile}`,
      })
  }
}
