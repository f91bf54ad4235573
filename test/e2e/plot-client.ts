/** A client of Debrief and ToolVault under the original tool names, over HTTP or through the bridge. */
import { randomUUID } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CallToolResult, type ErrorObject, errorMetaKey } from '@causeway/protocol'
import type { Test } from 'tap'
import type { Channel } from '../requirement.ts'
import { repository } from '../tree.ts'
import { openBridge } from './bridge-process.ts'
import { postMcp } from './http.ts'
import { type RunningServer, startServer } from './server-process.ts'

/** The structured content of a result. */
// biome-ignore lint/suspicious/noExplicitAny: each test expects its own shape
export type Data = Readonly<Record<string, any>>

/** A client with its own session. */
export interface PlotClient {
  /** Returns the structured content. Rejects if the call fails. */
  call(tool: string, args?: object): Promise<Data>
  /** Returns the error of a call. Rejects if the call succeeds. */
  callError(tool: string, args?: object): Promise<ErrorObject>
}

/** A server with its plot folder. `file` returns the text of a plot. */
export interface PlotServer extends RunningServer {
  readonly folder: string
  file(name: string): string
}

/** Starts a server with copies of the fixture plots `names`. */
export async function startPlots(
  t: Test,
  dir: string,
  names: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<PlotServer> {
  const folder = join(dir, 'plots')
  copyPlots(folder, names)
  const data = join(dir, 'data')
  mkdirSync(data, { recursive: true })
  const running = await startServer(t, { dir: data, env: { CAUSEWAY_PLOT_ROOTS: folder, ...env } })
  return {
    ...running,
    folder,
    file: (name) => readFileSync(join(folder, `${name}.plot.json`), 'utf8'),
  }
}

/** Copies fixture plots into a folder. */
export function copyPlots(folder: string, names: readonly string[]): void {
  mkdirSync(folder, { recursive: true })
  for (const name of names)
    cpSync(`${repository}/fixtures/plots/${name}.plot.json`, join(folder, `${name}.plot.json`))
}

/** Opens a client that is closed at the end of the test. `toolvault_…` names are called on ToolVault, all others on Debrief. */
export async function openPlotClient(t: Test, channel: Channel, url: string): Promise<PlotClient> {
  return channel === 'bridge' ? overBridge(t, url) : overHttp(url, randomUUID())
}

/** Creates a client that posts to the mounts of the two apps. */
export function overHttp(url: string, session: string): PlotClient {
  const headers = { 'causeway-session': session }
  return createClient(async (name, args) => {
    const path = name.startsWith('toolvault_') ? '/mcp/toolvault' : '/mcp/debrief'
    const { json } = await postMcp(url, 'tools/call', { name, arguments: args }, { headers, path })
    return json.result
  })
}

/** Starts a bridge for each app, because the original configuration has two servers. */
async function overBridge(t: Test, url: string): Promise<PlotClient> {
  const debrief = await openBridge(t, { url: `${url}/mcp/debrief` })
  const vault = await openBridge(t, { url: `${url}/mcp/toolvault` })
  let calls = 0
  return createClient(async (name, args) => {
    const client = name.startsWith('toolvault_') ? vault : debrief
    return (await client.call(++calls, 'tools/call', { name, arguments: args })).result
  })
}

function createClient(call: (name: string, args: object) => Promise<CallToolResult | undefined>): PlotClient {
  return {
    async call(name, args = {}) {
      const result = await call(name, args)
      if (result !== undefined && result.isError !== true) return result.structuredContent as Data
      throw new Error(`${name} failed: ${JSON.stringify(result)}`)
    },
    async callError(name, args = {}) {
      const result = await call(name, args)
      if (result?.isError === true) return result._meta?.[errorMetaKey] as ErrorObject
      throw new Error(`${name} did not fail: ${JSON.stringify(result)}`)
    },
  }
}
