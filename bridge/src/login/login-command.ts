import { createInterface } from 'node:readline/promises'
import { listStopSignals } from '@causeway/protocol'
import type { Settings } from '../settings/settings.ts'
import { findLoginFolder, loadLogins, toRemoteServer } from './upstream-login.ts'

interface Terminal {
  readonly print: (line: string) => void
  readonly warn: (line: string) => void
}

export async function runLoginCommand(settings: Settings, { print, warn }: Terminal): Promise<0 | 1> {
  const { url, oauth } = settings
  const logins = await loadLogins(findLoginFolder(process.env))
  const server = toRemoteServer(settings, process.env)
  if (oauth.action === 'logout') {
    const { existed, revoked } = await logins.logout(server)
    print(existed ? `logged out: ${url.host}` : `not logged in: ${url.host}`)
    if (existed && !revoked) warn('the server did not revoke the tokens; they are valid until they expire')
    return 0
  }
  const { LocalLoginSession, runInteractiveLogin } = await import('@causeway/oauth')
  const session = await LocalLoginSession.open(logins, server, oauth.callbackPort)
  const interruption = new AbortController()
  for (const signal of listStopSignals()) process.once(signal, () => interruption.abort())
  try {
    const isTerminal = process.stdin.isTTY && process.stderr.isTTY
    await runInteractiveLogin(session, {
      print,
      note: warn,
      ask: isTerminal ? ask : undefined,
      canOpenBrowser: true,
      signal: interruption.signal,
    })
  } finally {
    await session.close()
  }
  print(`logged in: ${url.host}`)
  return 0
}

async function ask(question: string, signal: AbortSignal): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return await terminal.question(question, { signal })
  } finally {
    terminal.close()
  }
}
