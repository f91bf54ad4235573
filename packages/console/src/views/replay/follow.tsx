import { formatClient, isBrowser } from '@causeway/protocol/call-filter'
import { useEffect, useRef, useState } from 'preact/hooks'
import { followEvents } from '../../data/follow-events.ts'
import type { CallRecord } from '../../data/types.ts'
import { formatHash, parseFrameLink, parseHash } from '../../domain/link.ts'
import { useConsole, useShortcuts } from '../../ui/console.ts'

/** Maximum number of calls on the time axis. */
const maxCalls = 20

/** Parts of the page where a person changes the frame, the selection or the camera. */
const movingParts = '.stage, .timeline, .plots, .viewer-side'

export interface Following {
  /** While paused, calls are received but not opened. */
  readonly state: 'off' | 'on' | 'paused'
  /** Whether the page currently receives calls. */
  readonly isConnected: boolean
  readonly toggle: () => void
  readonly pause: () => void
  readonly resume: () => void
  /** The last followed calls, newest last. */
  readonly calls: readonly CallRecord[]
  readonly show: (call: CallRecord) => void
  /** Sessions that made calls, with the names of their clients. */
  readonly sessions: ReadonlyMap<string, string>
  /** The only followed session; an empty string for all. */
  readonly session: string
  readonly choose: (session: string) => void
}

/** Opens the recording, frame and contact of each call of another client, unless paused. */
export function useFollow(): Following {
  const { server, navigation } = useConsole()
  const address = parseHash(location.hash).get('follow')
  const [state, setState] = useState<Following['state']>(address === undefined ? 'off' : 'on')
  const [session, choose] = useState(address === undefined || address === 'any' ? '' : address)
  const [receivedCalls, setReceivedCalls] = useState<readonly CallRecord[]>([])
  const [isConnected, setConnected] = useState(false)
  const isOn = state !== 'off'
  const calls = receivedCalls.filter((call) => isFromSession(call, session))
  const show = (call: CallRecord): void => {
    const { pathname, hash } = new URL(call.view ?? '', location.origin)
    navigation.replace(`${pathname}#${formatHash(hash, { follow: latest.current.session || 'any' })}`)
  }
  const toggle = (): void => setState((oldValue) => (oldValue === 'off' ? 'on' : 'off'))
  const pause = (): void => {
    if (latest.current.last !== undefined) setState((oldValue) => (oldValue === 'on' ? 'paused' : oldValue))
  }
  const resume = (): void => {
    setState('on')
    if (latest.current.last !== undefined) show(latest.current.last)
  }
  const latest = useRef({ state, session, last: calls.at(-1) })
  latest.current = { state, session, last: calls.at(-1) }
  const toggleOrResume = (): void => (latest.current.state === 'paused' ? resume() : toggle())
  useShortcuts(() => [{ keys: 'g', label: 'Follow the calls of clients', run: toggleOrResume }])
  useEffect(
    () => navigation.replaceHash(formatHash(location.hash, { follow: isOn ? session || 'any' : undefined })),
    [isOn, session],
  )
  useEffect(() => {
    setConnected(false)
    if (!isOn) return
    setReceivedCalls([])
    return followEvents<CallRecord>(server, '/api/apps/causeway/calls/events', ({ events }) => {
      setConnected(true)
      const newCalls = events.filter(isShown)
      if (newCalls.length === 0) return
      setReceivedCalls((oldValue) => [...oldValue, ...newCalls].slice(-maxCalls))
      const call = newCalls.findLast((candidate) => isFromSession(candidate, latest.current.session))
      if (call !== undefined && latest.current.state === 'on') show(call)
    })
  }, [isOn])
  usePauseByHand(state === 'on', pause)
  const sessions = new Map(
    receivedCalls.map(({ metadata }) => [metadata.session, formatClient(metadata.client)]),
  )
  return { state, isConnected, toggle, pause, resume, calls, show, sessions, session, choose }
}

function usePauseByHand(isOn: boolean, pause: () => void): void {
  useEffect(() => {
    if (!isOn) return
    const handle = ({ target }: Event): void => {
      if (target instanceof Element && target.closest(movingParts) !== null) pause()
    }
    const events = ['pointerdown', 'click', 'input']
    for (const event of events) document.addEventListener(event, handle)
    return () => {
      for (const event of events) document.removeEventListener(event, handle)
    }
  }, [isOn])
}

/** Excludes calls of this console, which makes one for each frame that it shows. */
const isShown = ({ view, metadata }: CallRecord): boolean =>
  view?.startsWith('/replay/') === true && !isBrowser(metadata.client)

const isFromSession = ({ metadata }: CallRecord, session: string): boolean =>
  session === '' || metadata.session === session

export const FollowControl = ({ following }: { following: Following }) => {
  const { state, isConnected, toggle, resume, calls, sessions, session, choose } = following
  const last = calls.at(-1)
  return (
    <>
      <button type="button" class="button" aria-pressed={state !== 'off'} onClick={toggle}>
        Follow clients
      </button>
      {state !== 'off' && (sessions.size > 1 || session !== '') && (
        <select
          aria-label="Session to follow"
          value={session}
          onChange={({ currentTarget }) => choose(currentTarget.value)}
        >
          <option value="">all clients</option>
          {[...new Map([...sessions, [session, sessions.get(session) ?? '']])].map(
            ([id, client]) =>
              id !== '' && (
                <option key={id} value={id}>
                  {client.slice(0, 60)} {id}
                </option>
              ),
          )}
        </select>
      )}
      {state === 'paused' && (
        <button type="button" class="button primary" onClick={resume}>
          Resume
        </button>
      )}
      {state !== 'off' && (
        <span class="muted clip" role="status" data-follow>
          <bdi>
            {state === 'paused' && 'Paused · '}
            {last === undefined
              ? isConnected
                ? 'Waiting for the next call'
                : 'Connecting…'
              : formatCall(last)}
          </bdi>
        </span>
      )}
    </>
  )
}

const formatCall = ({ toolName, metadata, view = '' }: CallRecord): string => {
  const { frame } = parseFrameLink(new URL(view, location.origin).hash)
  return `${formatClient(metadata.client)} · ${toolName}${frame === undefined ? '' : ` · frame ${frame}`}`
}

export interface CallMark {
  readonly id: string
  readonly frame: number
  readonly text: string
  readonly open: () => void
}

export const listCallMarks = ({ state, calls, show }: Following, recording: string): readonly CallMark[] =>
  (state === 'off' ? [] : calls).flatMap((call) => {
    const { pathname, hash } = new URL(call.view ?? '', location.origin)
    const { frame } = parseFrameLink(hash)
    if (frame === undefined || pathname !== `/replay/${encodeURIComponent(recording)}`) return []
    return [{ id: call.metadata.request_id, frame, text: formatCall(call), open: () => show(call) }]
  })
