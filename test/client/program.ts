/** Runs clients that `test/downloads/clients.mjs` installs, each in an isolated home without an account. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import { fromSource } from '../../bridge/test/client.ts'
import { clientProgram, type clients } from '../downloads/clients.mjs'
import type { Channel } from '../requirement.ts'

/** Output and exit code of a client. */
export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a client with these arguments. */
export type Run = (...args: readonly string[]) => Promise<Outcome>

/** Returns the program that the cache contains. Otherwise the test is skipped or fails, as `clientRun` describes. */
export function installedProgram(t: Test, name: keyof typeof clients): string | undefined {
  if (process.env.CAUSEWAY_CLIENT_CACHE === undefined) {
    t.pass(name, { skip: 'set CAUSEWAY_CLIENT_CACHE, and run: node test/downloads/clients.mjs install' })
    return undefined
  }
  const program = clientProgram(name, process.env)
  if (program === undefined) t.fail(`${name} is not installed; run: node test/downloads/clients.mjs install`)
  return program
}

/**
 * Returns a function that runs a client in `home`. If CAUSEWAY_CLIENT_CACHE is not set, as it is outside of CI, the test is
 * skipped with the command that installs the clients. If it is set, a missing client fails the test.
 */
export function clientRun(t: Test, name: keyof typeof clients, home: string): Run | undefined {
  const program = installedProgram(t, name)
  if (program === undefined) return undefined
  return async (...args) => {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: home,
      env: isolated(home),
      stdio: 'pipe',
    })
    child.stdin.end()
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ])
    return { code, stdout, stderr }
  }
}

/** The command line of a bridge to this server, for stdio clients. */
export const bridgeCommand = (url: string): readonly string[] => [
  process.execPath,
  ...fromSource,
  '--url',
  `${url}/mcp`,
]

/** Selects the configuration for a channel. */
export const target = <T>(channel: Channel, ways: { http: T; bridge: T }): T =>
  channel === 'bridge' ? ways.bridge : ways.http

/** An environment without the developer's account, settings, API variables and proxies. */
const isolated = (home: string): NodeJS.ProcessEnv => ({
  HOME: home,
  USERPROFILE: home,
  PATH: [dirname(process.execPath), '/usr/local/bin:/usr/bin:/bin'].join(':'),
  TERM: 'xterm',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_AUTOUPDATER: '1',
})
