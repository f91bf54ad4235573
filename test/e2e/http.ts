/** Plain HTTP requests without a client library. */

/** A response with its complete body. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: each test expects its own shape
  readonly json: any
}

/** Options that change a POST to `/mcp`. */
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

/** Posts a value as JSON. `json` is undefined if the response body is empty. */
export async function postJson(
  url: string,
  path: string,
  body: unknown,
  { headers = {}, signal }: Sending = {},
): Promise<HttpAnswer> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    json: text === '' ? undefined : JSON.parse(text),
  }
}

/** Gets JSON. */
export async function getJson(url: string, path: string): Promise<HttpAnswer> {
  const response = await fetch(`${url}${path}`)
  return { status: response.status, headers: response.headers, json: await response.json() }
}
