/** The diff of a public pull request, from GitHub and from nowhere else, without any credentials. */
import { CausewayError } from '@causeway/protocol'
import { diffUrl, isDiffHost, type PullRequest } from './domain/review/pull-url.ts'

/** Bounds of a diff: bytes, redirects, ms. */
const [mostBytes, mostRedirects, patienceMs] = [10_000_000, 3, 20_000]

/** How it is fetched. */
export interface FetchOptions {
  readonly fetch: typeof globalThis.fetch
  readonly signal: AbortSignal
}

/** Fetches the diff; throws `REVIEW_URL_FAILED`, `FILE_TOO_LARGE`. */
export async function fetchDiff(asked: PullRequest, { fetch, signal }: FetchOptions): Promise<string> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)])
  const failed = (why: string, cause?: unknown): CausewayError =>
    new CausewayError('REVIEW_URL_FAILED', `${why}: ${diffUrl(asked)}`, {
      cause,
      data: { url: diffUrl(asked) },
    })
  let url = new URL(diffUrl(asked))
  try {
    for (let redirects = 0; redirects <= mostRedirects; redirects++) {
      const answer = await fetch(url, {
        redirect: 'manual',
        signal: limited,
        headers: { accept: 'text/plain' },
      })
      const location = answer.headers.get('location')
      if (answer.ok) return await bodyOf(answer)
      await answer.body?.cancel()
      if (answer.status < 300 || answer.status > 399 || location === null)
        throw failed(
          answer.status === 404 ? 'there is no such public pull request' : `GitHub answered ${answer.status}`,
        )
      url = new URL(location, url)
      if (!isDiffHost(url)) throw failed(`GitHub sent on to ${url.host}`)
    }
    throw failed('GitHub sent on too often')
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof TypeError || limited.aborted) throw failed('GitHub could not be reached', error)
    throw error
  }
}

async function bodyOf(answer: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of answer.body ?? []) {
    bytes += part.length
    if (bytes > mostBytes)
      throw new CausewayError('FILE_TOO_LARGE', `the diff is over ${mostBytes} bytes`, {
        data: { most: mostBytes },
      })
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}
