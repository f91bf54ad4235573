/** One interface for the official SDK clients, v1 and each mode of v2, over HTTP and through the bridge. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import type { Test } from 'tap'
import { fromSource } from '../../bridge/test/client.ts'
import { cleanEnv } from '../e2e/server-process.ts'
import type { Channel } from '../requirement.ts'

/** The result of a tool call. */
// biome-ignore lint/suspicious/noExplicitAny: each test expects its own shape
export type Result = Readonly<Record<string, any>>

/** Options of a tool call. */
export interface CallOptions {
  readonly onprogress?: (progress: { progress: number }) => void
  readonly signal?: AbortSignal
}

/** The common interface of the clients. */
export interface AnyClient {
  names(): Promise<string[]>
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<Result>
  read(uri: string): Promise<Result>
  prompt(name: string, args: Record<string, string>): Promise<Result>
  /** Calls the listener on each notification of changed tools. */
  onToolsChanged(listener: () => void): void
}

/** How v2 negotiates the protocol version. */
export type Mode = 'auto' | { readonly pin: string } | undefined

const info = { name: 'sdk-client', version: '1' }

const bridge = (url: string, cwd?: string) => ({
  ...(cwd === undefined ? {} : { cwd }),
  command: process.execPath,
  args: fromSource,
  env: { ...(cleanEnv() as Record<string, string>), MCP_SERVER_URL: url },
})

/** Connects the client of SDK v1 and closes it at the end of the test. */
export async function connectV1(t: Test, channel: Channel, url: string): Promise<AnyClient> {
  const client = new ClientV1(info)
  const transport = channel === 'bridge' ? new StdioV1(bridge(url)) : new HttpV1(new URL(url))
  // The types of v1 are not compatible with exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<typeof client.connect>[0])
  t.teardown(() => client.close())
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name, args = {}, options = {}) => client.callTool({ name, arguments: args }, undefined, options),
    read: (uri) => client.readResource({ uri }),
    prompt: (name, args) => client.getPrompt({ name, arguments: args }),
    onToolsChanged: (listener) =>
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => listener()),
  }
}

/** Connects the client of SDK v2, with a bridge in the folder `cwd`, and closes it at the end of the test. */
export async function connectV2(
  t: Test,
  channel: Channel,
  url: string,
  mode: Mode,
  cwd?: string,
): Promise<AnyClient> {
  const listeners: (() => void)[] = []
  const onChanged = (): void => {
    for (const listener of listeners) listener()
  }
  const client = new Client(info, {
    ...(mode === undefined ? {} : { versionNegotiation: { mode } }),
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged } },
  })
  await client.connect(
    channel === 'bridge'
      ? new StdioClientTransport(bridge(url, cwd))
      : new StreamableHTTPClientTransport(new URL(url)),
  )
  t.teardown(() => client.close())
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name, args = {}, options = {}) => client.callTool({ name, arguments: args }, options),
    read: (uri) => client.readResource({ uri }),
    prompt: (name, args) => client.getPrompt({ name, arguments: args }),
    onToolsChanged: (listener) => void listeners.push(listener),
  }
}
