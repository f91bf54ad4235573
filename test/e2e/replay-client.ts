/** A client of the Replay tools over a channel: the app directly, HTTP, or the bridge. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeRoots } from '@causeway/app-kit'
import { openForTest } from '@causeway/app-kit/testing'
import replay from '@causeway/app-replay'
import {
  asCausewayError,
  type CallToolResult,
  type ErrorObject,
  errorMetaKey,
  toErrorObject,
} from '@causeway/protocol'
import type { Test } from 'tap'
import type { Channel } from '../requirement.ts'
import { openBridge } from './bridge-process.ts'
import { postMcp } from './http.ts'
import { recordings } from './server-process.ts'

/** The structured content of a result. */
// biome-ignore lint/suspicious/noExplicitAny: each test expects its own shape
export type Data = Readonly<Record<string, any>>

/** A client with its own session. */
export interface ReplayClient {
  /** Returns the structured content. Rejects if the call fails. */
  call(tool: string, args?: object): Promise<Data>
  /** Returns the error of a call. Rejects if the call succeeds. */
  callError(tool: string, args?: object): Promise<ErrorObject>
}

/** The outcome of a tool call. */
type Outcome = { readonly data: Data } | { readonly error: ErrorObject }

/** Opens a client that is closed at the end of the test. The direct channel ignores `url`. */
export async function openReplayClient(t: Test, channel: Channel, url: string): Promise<ReplayClient> {
  if (channel === 'direct') return createClient(await openApp(t))
  if (channel === 'http') return overHttp(url, { 'causeway-session': randomUUID() })
  return overBridge(t, url)
}

/** Creates a plain HTTP client. The headers determine its session. */
export const overHttp = (url: string, headers: Readonly<Record<string, string>>): ReplayClient =>
  createClient(async (tool, args) => {
    const { json } = await postMcp(
      url,
      'tools/call',
      { name: `Replay__${tool}`, arguments: args },
      { headers },
    )
    return parseResult(json.result, json)
  })

/** Starts a bridge with its own session. `run` is the program; by default it runs from source. */
export async function overBridge(t: Test, url: string, run?: readonly string[]): Promise<ReplayClient> {
  const client = await openBridge(t, { url: `${url}/mcp`, ...(run === undefined ? {} : { run }) })
  let calls = 0
  return createClient(async (tool, args) => {
    const params = { name: `Replay__${tool}`, arguments: args }
    const message = await client.call(++calls, 'tools/call', params)
    return parseResult(message.result, message)
  })
}

async function openApp(t: Test) {
  const roots = makeRoots(() => [recordings], 'CAUSEWAY_RECORDING_ROOTS')
  // Not the test's folder, which may already contain a server's data.
  const dir = mkdtempSync(join(tmpdir(), 'causeway-direct-'))
  const app = await openForTest(replay, { dir, roots, now: Date.now })
  t.teardown(async () => {
    await app.close()
    rmSync(dir, { recursive: true })
  })
  const client = app.client()
  return async (tool: string, args: object): Promise<Outcome> => {
    try {
      return { data: await client.call(tool, args) }
    } catch (error) {
      return { error: toErrorObject(asCausewayError(error)) }
    }
  }
}

function createClient(call: (tool: string, args: object) => Promise<Outcome>): ReplayClient {
  return {
    async call(tool, args = {}) {
      const outcome = await call(tool, args)
      if ('data' in outcome) return outcome.data
      throw new Error(`${tool} failed: ${JSON.stringify(outcome.error)}`)
    },
    async callError(tool, args = {}) {
      const outcome = await call(tool, args)
      if ('error' in outcome) return outcome.error
      throw new Error(`${tool} did not fail: ${JSON.stringify(outcome.data)}`)
    },
  }
}

function parseResult(result: CallToolResult | undefined, message: unknown): Outcome {
  if (result === undefined) throw new Error(`no result: ${JSON.stringify(message)}`)
  if (result.isError === true) return { error: result._meta?.[errorMetaKey] as ErrorObject }
  return { data: result.structuredContent as Data }
}
