/** One client's calls of Trm, over whichever channel: the app alone, HTTP on its own mount, or the bridge. */
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
import type { Data } from './conversation.ts'
import { postMcp } from './http.ts'

/** A client with a session of its own: the data of an answer, or the error of a call as data under `error`. */
export type Trm = (tool: string, args?: object) => Promise<Data>

/** Begins a conversation that the test ends; `roots` are those of the direct channel, `url` is the server's of the others. */
export async function refine(
  t: Test,
  channel: Channel,
  { url, root }: { url: string; root: string },
): Promise<Trm> {
  if (channel === 'direct') return directly(t, root)
  if (channel === 'http') return overHttp(url)
  const client = await openBridge(t, { url: `${url}/mcp` })
  let calls = 0
  return async (tool, args = {}) => {
    const message = await client.call(++calls, 'tools/call', { name: `Trm__${tool}`, arguments: args })
    return unpacked(message.result, message)
  }
}

/** The result of a call that evaluates: where the answer is that it runs, `state` is asked until it is over. */
export async function finished(call: Trm, tool: string, args: object): Promise<Data> {
  const first = await call(tool, { wait: 2, ...args })
  if (first.status !== 'running' && first.baseline?.status !== 'running') return first
  for (;;) {
    const { status, last } = await call('state', { sid: first.sessionId, wait: 2 })
    if (status !== 'running') return tool === 'start' ? { ...first, baseline: last } : last
  }
}

/** HTTP on the mount of Trm, under the names of its original. */
export function overHttp(url: string, session: string = randomUUID()): Trm {
  return async (tool, args = {}) => {
    const params = { name: `trm.${tool}`, arguments: args }
    const { json } = await postMcp(url, 'tools/call', params, {
      path: '/mcp/trm',
      headers: { 'causeway-session': session },
    })
    return unpacked(json.result, json)
  }
}

async function directly(t: Test, root: string): Promise<Trm> {
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
  return (tool, args) => client.call(tool, args)
}

function unpacked(result: CallToolResult | undefined, message: unknown): Data {
  if (result === undefined) throw new Error(`no result: ${JSON.stringify(message)}`)
  if (result.isError === true) return { error: result._meta?.[errorMetaKey] as ErrorObject }
  return result.structuredContent as Data
}
