/** A server core for tests, with a real data folder and registry but without transports. */
import { readdirSync, readFileSync } from 'node:fs'
import type { App } from '@causeway/app-kit'
import type { Params } from '@causeway/protocol'
import { type Logger, pino } from 'pino'
import type { Test } from 'tap'
import { readConfig } from '../src/config/read-config.ts'
import type { Caller } from '../src/dispatch/caller.ts'
import { Core } from '../src/host/core.ts'
import type { Mount } from '../src/registry/mount.ts'

export interface LogCapture {
  readonly log: Logger
  readonly lines: readonly Record<string, unknown>[]
}

export function captureLog(level = 'debug'): LogCapture {
  const lines: Record<string, unknown>[] = []
  const log = pino({ level, base: null }, { write: (line) => void lines.push(JSON.parse(line)) })
  return { log, lines }
}

/** Opens a core in the test's folder and closes it after the test. */
export async function openTestCore(
  t: Test,
  apps: readonly App[],
  options: {
    dir?: string
    env?: NodeJS.ProcessEnv
    log?: Logger
    now?: () => number
    monotonicNow?: () => number
    cwd?: string
    profiles?: () => Readonly<Record<string, readonly string[]>>
  } = {},
): Promise<Core> {
  const { dir = t.testdir(), env = {}, log = captureLog().log, cwd = dir } = options
  const { config } = readConfig({ env: { CAUSEWAY_DATA_DIR: `${dir}/data`, ...env }, cwd })
  const core = await Core.open({
    config,
    log,
    apps,
    cwd,
    ...(options.now === undefined ? {} : { now: options.now }),
    ...(options.profiles === undefined ? {} : { profiles: options.profiles }),
    ...(options.monotonicNow === undefined ? {} : { monotonicNow: options.monotonicNow }),
  })
  t.teardown(() => core.close())
  return core
}

/** Creates a caller with default values. */
export const testCaller = (changes: Partial<Caller> = {}): Caller => ({
  mount: { path: '/mcp' },
  era: 'modern',
  channel: 'mcp',
  sessionKey: 'test',
  sharedSession: false,
  client: { name: 'test', version: '1' },
  requestId: 'request-1',
  cancellation: new AbortController(),
  progress: () => {},
  notify: () => {},
  ...changes,
})

/** Calls a tool by its wire name. */
export const call = (
  core: Core,
  name: string,
  args: unknown = {},
  caller: Partial<Caller> = {},
): Promise<{ structuredContent?: Record<string, unknown>; isError?: boolean; [more: string]: unknown }> =>
  core.dispatch('tools/call', { name, arguments: args } as Params, testCaller(caller)) as never

/** Returns the names of the tools that a mount lists. */
export const toolNames = (core: Core, path: Mount['path'] = '/mcp'): string[] =>
  (JSON.parse(core.registry.getLists({ path }).toolsJson.legacy) as { tools: { name: string }[] }).tools.map(
    ({ name }) => name,
  )

/** Waits at most 30 seconds for a promise, and keeps the process alive meanwhile. */
export async function soon<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('timed out after 30 seconds')), 30_000)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Returns names and texts of the log files of a kind, oldest first. */
export function readLogFiles(dir: string, name: string): { file: string; text: string }[] {
  const number = (file: string) => Number(/\.(\d+)\./.exec(file)?.[1])
  return readdirSync(`${dir}/logs`)
    .filter((file) => file.startsWith(`${name}.`))
    .sort((one, other) => number(one) - number(other))
    .map((file) => ({ file, text: readFileSync(`${dir}/logs/${file}`, 'utf8') }))
}
