import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { CallLog } from '../../data/call-log.ts'
import { followEvents } from '../../data/follow-events.ts'
import { retryUnavailable } from '../../data/server.ts'
import type { AuditPage, CallRecord } from '../../data/types.ts'
import { useConsole } from '../../ui/console.ts'

/** Minimum interval between renders, in ms. */
const updateDelayMs = 250

const maxEarlierCalls = 200

/** Follows the calls of all clients. */
export function useCalls(): { readonly log: CallLog; readonly version: number } {
  const { server } = useConsole()
  const access = server.needsToken.value
  const log = useMemo(() => new CallLog(), [access])
  const [version, setVersion] = useState(0)
  const isChanged = useRef(false)
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const path = '/api/apps/causeway'
    const loadEarlier = (): void => {
      retryUnavailable(
        () => server.get<AuditPage>(`${path}/audit?limit=${maxEarlierCalls}`, { signal }),
        signal,
      ).then(
        ({ entries }) => receive(entries.toReversed()),
        () => {},
      )
    }
    const receive = (calls: readonly CallRecord[], missed = 0): void => {
      if (calls.length === 0 && missed === 0) return
      log.add(calls, missed)
      isChanged.current = true
    }
    let isFirst = true
    const follow = ({ events, missed }: { events: readonly CallRecord[]; missed: number }): void => {
      // The server has just started, so only the audit has earlier calls.
      if (isFirst && events.length === 0) loadEarlier()
      isFirst = false
      receive(events, missed)
    }
    const end = followEvents<CallRecord>(server, `${path}/calls/events`, follow, { from: 'recent' })
    const timer = setInterval(() => {
      if (!isChanged.current || document.hidden) return
      isChanged.current = false
      setVersion((oldVersion) => oldVersion + 1)
    }, updateDelayMs)
    return () => {
      controller.abort()
      end()
      clearInterval(timer)
    }
  }, [log])
  return { log, version }
}
