/** An MCP client that calls the tools of Minds over HTTP without the prefix of the app, as a game does. */
import { Pool } from 'undici'

/** The structured result of a tool. */
export type Answer = Readonly<Record<string, unknown>>

/** Calls a tool. Throws if the server sends no structured result. */
export type Call = (tool: string, args: object) => Promise<Answer>

/** A client of one server. */
export interface Client {
  readonly call: Call
  /** Returns the parsed JSON of a resource. */
  read(uri: string): Promise<unknown>
  close(): Promise<void>
}

/** Connects to a server at `http://host:port`. Results that report an error are returned, not thrown. */
export function connect(url: string): Client {
  const pool = new Pool(url, { connections: 16 })
  const send = async (method: string, params: object): Promise<Result> => {
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: '/mcp/minds',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const text = await body.text()
    const { result } = JSON.parse(text) as { result?: Result } // JSON-RPC
    if (result === undefined) throw new Error(`${method}: ${statusCode} ${text.slice(0, 300)}`)
    return result
  }
  return {
    async call(name, args) {
      const { structuredContent } = await send('tools/call', { name, arguments: args })
      if (structuredContent === undefined) throw new Error(`${name} returned no structured result`)
      return structuredContent
    },
    async read(uri) {
      const { contents } = await send('resources/read', { uri })
      return JSON.parse(contents?.[0]?.text ?? 'null')
    },
    close: () => pool.destroy(),
  }
}

interface Result {
  readonly structuredContent?: Answer
  readonly contents?: readonly { readonly text: string }[]
}
