/** A client of the Trm tools over a channel: the app directly, HTTP on the Trm mount, or the bridge. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openForTest } from '@causeway/app-kit/testing'
import trm from '@causeway/app-trm'
import { type CallToolResult, type ErrorObject, errorMetaKey } from '@causeway/protocol'
import type { Test } from 'tap'
import type { Channel } from '../requirement.ts'
import { openBridge } from './bridge-process.ts'
import { postMcp } from './http.ts'
import type { Data } from './replay-client.ts'

/** Calls a tool in the client's own session. Returns its data, or `{ error }` if the call fails. */
export type TrmCall = (tool: string, args?: object) => Promise<Data>

/** Opens a client that is closed at the end of the test. The direct channel uses `root`, the others use `url`. */
export async function openTrmClient(
  t: Test,
  channel: Channel,
  { url, root }: { url: string; root: string },
): Promise<TrmCall> {
  if (channel === 'direct') return openApp(t, root)
  if (channel === 'http') return overHttp(url)
  const client = await openBridge(t, { url: `${url}/mcp` })
  let calls = 0
  return async (tool, args = {}) => {
    const params = { name: `Trm__${tool}`, arguments: addDetails(tool, args) }
    const message = await client.call(++calls, 'tools/call', params)
    return parseResult(message.result, message)
  }
}

/** Calls a tool that evaluates and returns the final result. Polls `state` while the evaluation runs. */
export async function callToEnd(call: TrmCall, tool: string, args: object): Promise<Data> {
  const first = await call(tool, { wait: 2, ...args })
  if (first.status !== 'running' && first.baseline?.status !== 'running') return first
  for (;;) {
    const { status, last } = await call('state', { sid: first.sessionId, wait: 2 })
    if (status !== 'running') return tool === 'start' ? { ...first, baseline: last } : last
  }
}

/** Creates an HTTP client of the Trm mount that uses the original tool names. */
export function overHttp(url: string, session: string = randomUUID()): TrmCall {
  return async (tool, args = {}) => {
    const params = { name: `trm.${tool}`, arguments: addDetails(tool, args) }
    const { json } = await postMcp(url, 'tools/call', params, {
      path: '/mcp/trm',
      headers: { 'causeway-session': session },
    })
    return parseResult(json.result, json)
  }
}

async function openApp(t: Test, root: string): Promise<TrmCall> {
  const dir = mkdtempSync(join(tmpdir(), 'causeway-direct-'))
  const app = await openForTest(trm, {
    dir,
    settings: { trmRoots: [root] },
    now: Date.now,
    newId: randomUUID,
  })
  t.teardown(async () => {
    await app.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const client = app.client()
  return (tool, args = {}) => client.call(tool, addDetails(tool, args))
}

/** Requests all fields of a result. */
const addDetails = (tool: string, args: object): object =>
  ['start', 'submit', 'state'].includes(tool) ? { details: true, ...args } : args

function parseResult(result: CallToolResult | undefined, message: unknown): Data {
  if (result === undefined) throw new Error(`no result: ${JSON.stringify(message)}`)
  if (result.isError === true) return { error: result._meta?.[errorMetaKey] as ErrorObject }
  return result.structuredContent as Data
}
