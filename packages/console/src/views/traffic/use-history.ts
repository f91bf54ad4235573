import { type CallFilter, parseCallFilter } from '@causeway/protocol/call-filter'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { CallHistory } from '../../data/call-history.ts'
import type { CallLog } from '../../data/call-log.ts'
import { useConsole } from '../../ui/console.ts'

/** Delay between the last input and a search, in ms. */
const searchDelayMs = 200

interface ParsedFilter {
  /** Empty if the filter has no conditions. */
  readonly text: string
  readonly filter: CallFilter
}

/** Parses the text of a filter. If the text is invalid, returns the last valid filter. */
export function useCallFilter(text: string): ParsedFilter & { readonly error: string | undefined } {
  const last = useRef<ParsedFilter>({ text: '', filter: [] })
  return useMemo(() => {
    try {
      const filter = parseCallFilter(text)
      last.current = { text: filter.length === 0 ? '' : text.trim(), filter }
      return { ...last.current, error: undefined }
    } catch (error) {
      return { ...last.current, error: (error as SyntaxError).message }
    }
  }, [text])
}

export function useHistory(log: CallLog, text: string): CallHistory {
  const { server } = useConsole()
  const history = useMemo(() => new CallHistory(server, text), [log, text])
  useEffect(() => {
    const timer = text === '' ? undefined : setTimeout(() => void history.load(log), searchDelayMs)
    return () => {
      clearTimeout(timer)
      history.close()
    }
  }, [history])
  return history
}
