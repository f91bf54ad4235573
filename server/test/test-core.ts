/** A server core for tests: real data folder, real registry, no channel. */
import type { App } from '@causeway/app-kit'
import type { Params } from '@causeway/protocol'
import { type Logger, pino } from 'pino'
import type { Test } from 'tap'
import type { Caller, Mount } from '../src/core.ts'
import { type OpenCore, openCore } from '../src/open-core.ts'
import { readConfig } from '../src/read-config.ts'

/** Lines that were logged, parsed. */
export interface LogCapture {
  readonly log: Logger
  readonly lines: readonly Record<string, unknown>[]
}

/** A log that a test can read. */
export function captureLog(level = 'debug'): LogCapture {
  const lines: Record<string, unknown>[] = []
  const log = pino({ level, base: null }, { write: (line) => void lines.push(JSON.parse(line)) })
  return { log, lines }
}

/** Opens a core in a folder of the test's own and closes it with the test. */
export async function openTestCore(
  t: Test,
  apps: readonly App[],
  options: {
    dir?: string
    env?: NodeJS.ProcessEnv
    log?: Logger
    now?: () => number
    steady?: () => number
    cwd?: string
  } = {},
): Promise<OpenCore> {
  const { dir = t.testdir(), env = {}, log = captureLog().log, cwd = dir } = options
  const { config } = readConfig({ argv: [], env: { CAUSEWAY_DATA_DIR: `${dir}/data`, ...env }, cwd })
  const core = await openCore({
    config,
    log,
    apps,
    cwd,
    ...(options.now === undefined ? {} : { now: options.now }),
    ...(options.steady === undefined ? {} : { steady: options.steady }),
  })
  t.teardown(() => core.close())
  return core
}

/** A caller with the usual answers to every question. */
export const testCaller = (changes: Partial<Caller> = {}): Caller => ({
  mount: { path: '/mcp' },
  era: 'modern',
  channel: 'mcp',
  sessionKey: 'test',
  sharedSession: false,
  client: { name: 'test', version: '1' },
  requestId: 'request-1',
  signal: new AbortController().signal,
  progress: () => {},
  notify: () => {},
  ...changes,
})

/** Calls a tool by its wire name. */
export const call = (
  core: OpenCore,
  name: string,
  args: unknown = {},
  caller: Partial<Caller> = {},
): Promise<{ structuredContent?: Record<string, unknown>; isError?: boolean; [more: string]: unknown }> =>
  core.dispatch('tools/call', { name, arguments: args } as Params, testCaller(caller)) as never

/** Names that a mount lists. */
export const toolNames = (core: OpenCore, path: Mount['path'] = '/mcp'): string[] =>
  (JSON.parse(core.toolList({ path }, 'legacy').json) as { tools: { name: string }[] }).tools.map(
    ({ name }) => name,
  )

/** What a promise gives, or a failure after half a minute; keeps the process alive meanwhile. */
export async function soon<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('not within half a minute')), 30_000)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
