import type { Backend, Got, Wire } from './backend.ts'
import type { Client } from './client.ts'

/** One scripted conversation of a client, the bridge and a server. */
export interface Case {
  /** Title of the test, unique within its group. */
  readonly name: string
  /** Flags of the bridge. */
  readonly args?: readonly string[]
  /** Scripts the responses of the server before the bridge starts. */
  readonly server?: (backend: Backend) => void
  /** Whether the bridge starts without a running server. */
  readonly isServerDown?: boolean
  /** Acts as the client. Waits for every message that the transcript must contain. */
  readonly run: (client: Client, backend: Backend) => Promise<unknown>
  /** Whether the optional stages are transparent for this case; default: true. */
  readonly isTransparent?: boolean
}

/** Headers that depend only on the HTTP library. */
const transportHeaders = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive'])

/**
 * Returns the HTTP requests, the lines on standard output and standard error, and the exit, as text. POST requests are in
 * the order of their arrival. GET and DELETE requests follow, because they are concurrent with the POST requests.
 */
export async function describeCase(client: Client, backend: Backend): Promise<string> {
  const posts = backend.got.all.filter(({ method }) => method === 'POST')
  const others = ['GET', 'DELETE'].flatMap((name) => backend.got.all.filter(({ method }) => method === name))
  const { code, signal } = await client.exited
  const text = [
    ...[...posts, ...others].map(describeRequest),
    ...client.lines.map((line) => `< ${shorten(line)}`),
    ...client.stderr.split('\n').flatMap((line) => (line === '' ? [] : [`stderr: ${line}`])),
    `exit: ${signal ?? code}`,
  ].join('\n')
  return normalize(text, backend.url)
}

function describeRequest({ method, path, headers, text }: Got): string {
  const fields = Object.entries(headers)
    .filter(([name]) => !transportHeaders.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `\n    ${name}: ${value}`)
  return `> ${method} ${path}${fields.join('')}${text === '' ? '' : `\n    ${shorten(text)}`}`
}

/** Reduces a long text to its start, length and end. */
function shorten(text: string): string {
  return text.length <= 2000 ? text : `${text.slice(0, 200)}… ${text.length} characters …${text.slice(-100)}`
}

/** Replaces values that differ between runs with placeholders, numbered by first occurrence. */
function normalize(text: string, url: string): string {
  const port = new URL(url).port
  const seen = new Map<string, string>()
  const number = (kind: string) => (value: string) => {
    const known = [...seen].filter(([, name]) => name.startsWith(`<${kind}-`)).length
    const name = seen.get(value) ?? `<${kind}-${known + 1}>`
    seen.set(value, name)
    return name
  }
  return text
    .replaceAll(`:${port}`, ':<port>')
    .replaceAll(`"port":${port}`, '"port":<port>')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, number('uuid'))
    .replace(/(?<=causeway-request: )\S+/g, number('request'))
    .replace(/(?<=causeway-project: )\S+/g, '<folder>')
    .replace(/(?<=traceparent: )00-[0-9a-f]{32}-[0-9a-f]{16}-01/g, '<traceparent>')
    .replace(/(?<="(waitedMs|waited_ms|retryAfterMs)":)[\d.]+/g, '<ms>')
    .replace(/\b\d+(\.\d+)? ?ms\b/g, '<ms> ms')
    .replace(/(?<=after )\d+(\.\d+)? s\b/g, '<s> s')
}

/** Responds with an event stream of the given messages and the result. */
export function streamResult(got: Got, messages: readonly Wire[], result: Wire): void {
  const stream = got.stream()
  for (const message of messages) stream.send(message)
  stream.send({ jsonrpc: '2.0', id: got.message.id, result })
  stream.end()
}

export const request = (id: string | number, method: string, params?: Wire): Wire => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params !== undefined && { params }),
})

export const notification = (method: string, params?: Wire): Wire => ({
  jsonrpc: '2.0',
  method,
  ...(params !== undefined && { params }),
})
