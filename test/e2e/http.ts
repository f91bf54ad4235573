/** Plain HTTP to a server, without a client library. */

/** An answer, read to its end. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test expects of it
  readonly json: any
}

/** How a request departs from a POST to `/mcp`. */
export interface Sending {
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** Posts one JSON-RPC request, as a script does. */
export const postMcp = (
  url: string,
  method: string,
  params: object,
  { path = '/mcp', ...sending }: Sending = {},
): Promise<HttpAnswer> => postJson(url, path, { jsonrpc: '2.0', id: 1, method, params }, sending)

/** Posts a value as JSON and reads the JSON that comes back; undefined where nothing comes. */
export async function postJson(
  url: string,
  path: string,
  body: unknown,
  { headers = {}, signal }: Sending = {},
): Promise<HttpAnswer> {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, json: text === '' ? undefined : JSON.parse(text) }
}

/** Gets JSON. */
export async function getJson(url: string, path: string): Promise<HttpAnswer> {
  const answer = await fetch(`${url}${path}`)
  return { status: answer.status, headers: answer.headers, json: await answer.json() }
}
