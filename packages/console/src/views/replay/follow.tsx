import { formatClient, isBrowser } from '@causeway/protocol/call-filter'
import { useEffect, useState } from 'preact/hooks'
import { followEvents } from '../../data/follow-events.ts'
import type { CallRecord } from '../../data/types.ts'
import { formatHash, parseHash, parsePlace } from '../../domain/link.ts'
import { useConsole, useShortcuts } from '../../ui/console.ts'

export interface Following {
  readonly isOn: boolean
  readonly toggle: () => void
  readonly last: CallRecord | undefined
}

/** Opens the recording, frame and contact of each call that another client makes, while it is on. */
export function useFollow(): Following {
  const { server, navigation } = useConsole()
  const [isOn, setOn] = useState(parseHash(location.hash).has('follow'))
  const [last, setLast] = useState<CallRecord>()
  const toggle = (): void => setOn((old) => !old)
  useShortcuts(() => [{ keys: 'g', label: 'Follow the calls of clients', run: toggle }])
  useEffect(() => {
    navigation.replaceHash(formatHash(location.hash, { follow: isOn ? 'any' : undefined }))
    if (!isOn) return
    return followEvents<CallRecord>(server, '/api/apps/causeway/calls/events', ({ events }) => {
      const call = events.findLast(isShown)
      if (call?.view === undefined) return
      const { pathname, hash } = new URL(call.view, location.origin)
      setLast(call)
      navigation.replace(`${pathname}#${formatHash(hash, { follow: 'any' })}`)
    })
  }, [isOn])
  return { isOn, toggle, last }
}

/** Calls of this console are not followed: it makes one for each frame that it shows. */
const isShown = ({ view, metadata }: CallRecord): boolean =>
  view?.startsWith('/replay/') === true && !isBrowser(metadata.client)

export const FollowControl = ({ isOn, toggle, last }: Following) => (
  <>
    <button type="button" class="button" aria-pressed={isOn} onClick={toggle}>
      Follow clients
    </button>
    {isOn && (
      <span class="muted clip" role="status" data-follow>
        <bdi>{last === undefined ? 'Waiting for the next call' : formatCall(last)}</bdi>
      </span>
    )}
  </>
)

const formatCall = ({ toolName, metadata, view = '' }: CallRecord): string => {
  const { frame } = parsePlace(new URL(view, location.origin).hash)
  return `${formatClient(metadata.client)} · ${toolName}${frame === undefined ? '' : ` · frame ${frame}`}`
}
