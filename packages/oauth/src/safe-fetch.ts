import { isCausewayError } from '@causeway/protocol'
import { LoginError } from './errors.ts'
import { isLoopbackUrl, type RemoteServer } from './remote-server.ts'

/** Metadata and tokens are a few kilobytes long. */
const maxBodyBytes = 256 * 1024
const timeoutMs = 15_000

/**
 * Throws `AUTHORIZATION_SERVER_INVALID` unless a URL is https, or http on this machine. Remote servers must
 * not direct requests to this machine.
 */
export function checkEndpoint(text: string, label: string, server: URL): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isLocal = url !== undefined && isLoopbackUrl(url)
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal)
  if (url !== undefined && isSafe && (!isLocal || isLoopbackUrl(server))) return url
  const problem =
    url === undefined ? 'is not a URL' : isSafe ? 'is on this machine, but the server is not' : 'is not https'
  throw new LoginError('AUTHORIZATION_SERVER_INVALID', `the ${label} of ${server.host} ${problem}`, {
    data: { server: server.origin, endpoint: text.slice(0, 200) },
  })
}

/** Returns a `fetch` that checks URLs and limits size and time. The SDK follows redirects within an origin. */
export function createSafeFetch({
  url: serverUrl,
  fetch: fetchFunction = fetch,
}: RemoteServer): typeof fetch {
  const server = new URL(serverUrl)
  return async (target, init) => {
    const url = checkEndpoint(target instanceof Request ? target.url : String(target), 'OAuth URL', server)
    try {
      const response = await fetchFunction(url, {
        ...init,
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      })
      const body = await readLimited(response, url)
      // For some statuses, `Response` rejects even an empty body.
      const { status, statusText, headers } = response
      return new Response(body.length === 0 ? null : body, { status, statusText, headers })
    } catch (error) {
      if (isCausewayError(error)) throw error
      const { name, cause } = error as Error
      const code = (cause as NodeJS.ErrnoException | undefined)?.code
      throw new LoginError(
        'AUTHORIZATION_SERVER_UNAVAILABLE',
        `${url.host} cannot be reached (${name === 'TimeoutError' ? `no response within ${timeoutMs} ms` : (code ?? name)})`,
        { data: { host: url.host } },
      )
    }
  }
}

async function readLimited(response: Response, url: URL): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let byteCount = 0
  for await (const chunk of response.body ?? []) {
    byteCount += chunk.length
    // Leaving the loop cancels the body.
    if (byteCount > maxBodyBytes) throw createInvalidError(url, `sent more than ${maxBodyBytes} bytes`)
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}

const createInvalidError = (url: URL, problem: string) =>
  new LoginError('AUTHORIZATION_SERVER_INVALID', `${url.origin}${url.pathname} ${problem}`, {
    data: { host: url.host },
  })
