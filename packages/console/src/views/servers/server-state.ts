import type { HostedServer } from '../../data/types.ts'
import type { Severity } from '../../ui/state.tsx'

interface StateDescription {
  readonly severity: Severity
  readonly word: string
  readonly meaning: string
  /** Returns the command that ends this state of a server. */
  readonly remedy?: (name: string) => string
}

const states: Readonly<Record<string, StateDescription>> = {
  ready: { severity: 'ok', word: 'ready', meaning: 'A process or session is ready.' },
  idle: { severity: 'off', word: 'idle', meaning: 'The next call starts it.' },
  starting: { severity: 'warn', word: 'starting', meaning: 'It is being started.' },
  backoff: {
    severity: 'warn',
    word: 'waits to restart',
    meaning: 'It ended unexpectedly, and is started again after a delay.',
    remedy: (name) => `causeway mcp restart ${name}`,
  },
  down: {
    severity: 'err',
    word: 'down',
    meaning:
      'It failed five times within five minutes. The first call after five more minutes starts it again.',
    remedy: (name) => `causeway mcp restart ${name}`,
  },
  needs_login: {
    severity: 'warn',
    word: 'needs login',
    meaning: 'The remote server requires a login.',
    remedy: (name) => `causeway mcp login ${name}`,
  },
  needs_approval: {
    severity: 'warn',
    word: 'needs approval',
    meaning: 'It was imported, and is not started before you approve it. Check its command first.',
    remedy: (name) => `causeway mcp show ${name}\ncauseway mcp approve ${name}`,
  },
  disabled: {
    severity: 'off',
    word: 'disabled',
    meaning: 'It is disabled in mcp.json.',
    remedy: (name) => `causeway mcp enable ${name}`,
  },
}

/** Describes a state of `GET /api/hosted`. Newer servers may have additional states. */
export const describeState = (state: string): StateDescription =>
  states[state] ?? { severity: 'warn', word: state, meaning: '' }

/** Returns the total memory of a server's processes; `undefined` if none was measured. */
export function sumMemory({ instances }: HostedServer): number | undefined {
  const measuredBytes = instances.flatMap(({ memory_bytes }) => memory_bytes ?? [])
  return measuredBytes.length === 0 ? undefined : measuredBytes.reduce((sum, bytes) => sum + bytes, 0)
}
