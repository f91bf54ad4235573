/** One client's questions to the tools of Replay, over whichever channel: the app alone, HTTP, or the bridge. */
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
  errorObject,
} from '@causeway/protocol'
import type { Test } from 'tap'
import type { Channel } from '../requirement.ts'
import { openBridge } from './bridge-process.ts'
import { postMcp } from './http.ts'
import { recordings } from './server-process.ts'

/** The data of an answer. */
// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test expects of it
export type Data = Readonly<Record<string, any>>

/** A client with a session of its own. */
export interface Conversation {
  /** The data of an answer; fails the test that gets an error instead. */
  ask(tool: string, args?: object): Promise<Data>
  /** The error of a call that must fail. */
  refusal(tool: string, args?: object): Promise<ErrorObject>
}

/** What a tool answered, taken apart. */
type Answer = { readonly data: Data } | { readonly error: ErrorObject }

/** Begins a conversation that the test ends; `url` is the server's, unused by the direct channel. */
export async function converse(t: Test, channel: Channel, url: string): Promise<Conversation> {
  if (channel === 'direct') return conversation(await directly(t))
  if (channel === 'http') return overHttp(url, { 'causeway-session': randomUUID() })
  return overBridge(t, url)
}

/** A client of plain HTTP; its headers decide about its session. */
export const overHttp = (url: string, headers: Readonly<Record<string, string>>): Conversation =>
  conversation(async (tool, args) => {
    const { json } = await postMcp(
      url,
      'tools/call',
      { name: `Replay__${tool}`, arguments: args },
      { headers },
    )
    return unpacked(json.result, json)
  })

/** A client of the bridge: a process of its own, and so a session of its own. `run` is the program, else the sources. */
export async function overBridge(t: Test, url: string, run?: readonly string[]): Promise<Conversation> {
  const client = await openBridge(t, { url: `${url}/mcp`, ...(run === undefined ? {} : { run }) })
  let calls = 0
  return conversation(async (tool, args) => {
    const params = { name: `Replay__${tool}`, arguments: args }
    const message = await client.call(++calls, 'tools/call', params)
    return unpacked(message.result, message)
  })
}

async function directly(t: Test) {
  const roots = makeRoots(() => [recordings], 'CAUSEWAY_RECORDING_ROOTS')
  // Not the folder of the test, which may hold a server's data already.
  const dir = mkdtempSync(join(tmpdir(), 'causeway-direct-'))
  const app = await openForTest(replay, { dir, roots, now: Date.now })
  t.teardown(async () => {
    await app.close()
    rmSync(dir, { recursive: true })
  })
  const client = app.client()
  return async (tool: string, args: object): Promise<Answer> => {
    try {
      return { data: await client.call(tool, args) }
    } catch (error) {
      return { error: errorObject(asCausewayError(error)) }
    }
  }
}

function conversation(call: (tool: string, args: object) => Promise<Answer>): Conversation {
  return {
    async ask(tool, args = {}) {
      const answer = await call(tool, args)
      if ('data' in answer) return answer.data
      throw new Error(`${tool} failed: ${JSON.stringify(answer.error)}`)
    },
    async refusal(tool, args = {}) {
      const answer = await call(tool, args)
      if ('error' in answer) return answer.error
      throw new Error(`${tool} did not fail: ${JSON.stringify(answer.data)}`)
    },
  }
}

function unpacked(result: CallToolResult | undefined, message: unknown): Answer {
  if (result === undefined) throw new Error(`no result: ${JSON.stringify(message)}`)
  if (result.isError === true) return { error: result._meta?.[errorMetaKey] as ErrorObject }
  return { data: result.structuredContent as Data }
}
