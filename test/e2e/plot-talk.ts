/** One client's questions to Debrief and ToolVault under the names of the original, over HTTP or through the bridge. */
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

/** The data of an answer. */
// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test expects of it
export type Data = Readonly<Record<string, any>>

/** A client with a session of its own. */
export interface PlotTalk {
  /** The data of an answer; fails the test that gets an error instead. */
  ask(tool: string, args?: object): Promise<Data>
  refusal(tool: string, args?: object): Promise<ErrorObject>
}

/** A server over copies of the plots. */
export interface PlotServer extends RunningServer {
  readonly folder: string
  file(name: string): string
}

/** Starts a server; `names` are plots of the fixtures. */
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

/** Plots of the fixtures, as they were made. */
export function copyPlots(folder: string, names: readonly string[]): void {
  mkdirSync(folder, { recursive: true })
  for (const name of names)
    cpSync(`${repository}/fixtures/plots/${name}.plot.json`, join(folder, `${name}.plot.json`))
}

/** Begins a conversation that the test ends. `toolvault_…` names go to ToolVault, all others to Debrief. */
export async function talk(t: Test, channel: Channel, url: string): Promise<PlotTalk> {
  return channel === 'bridge' ? overBridge(t, url) : overHttp(url, randomUUID())
}

/** By POST to the mounts of the two apps. */
export function overHttp(url: string, session: string): PlotTalk {
  const headers = { 'causeway-session': session }
  return talking(async (name, args) => {
    const path = name.startsWith('toolvault_') ? '/mcp/toolvault' : '/mcp/debrief'
    const { json } = await postMcp(url, 'tools/call', { name, arguments: args }, { headers, path })
    return json.result
  })
}

/** Through a bridge for each app, as the configuration of the original names two servers. */
async function overBridge(t: Test, url: string): Promise<PlotTalk> {
  const debrief = await openBridge(t, { url: `${url}/mcp/debrief` })
  const vault = await openBridge(t, { url: `${url}/mcp/toolvault` })
  let calls = 0
  return talking(async (name, args) => {
    const client = name.startsWith('toolvault_') ? vault : debrief
    return (await client.call(++calls, 'tools/call', { name, arguments: args })).result
  })
}

function talking(call: (name: string, args: object) => Promise<CallToolResult | undefined>): PlotTalk {
  return {
    async ask(name, args = {}) {
      const result = await call(name, args)
      if (result !== undefined && result.isError !== true) return result.structuredContent as Data
      throw new Error(`${name} failed: ${JSON.stringify(result)}`)
    },
    async refusal(name, args = {}) {
      const result = await call(name, args)
      if (result?.isError === true) return result._meta?.[errorMetaKey] as ErrorObject
      throw new Error(`${name} did not fail: ${JSON.stringify(result)}`)
    },
  }
}
