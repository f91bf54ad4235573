import { CausewayError } from '@causeway/protocol'

/** A pull request of GitHub; letters as GitHub allows them. */
const pull = /^https:\/\/github\.com\/([A-Za-z0-9-]{1,39})\/([A-Za-z0-9._-]{1,100})\/pull\/(\d{1,9})$/

/** Refuses a URL: `INVALID_URL` for what is no pull request, else `REVIEW_URL_DISABLED`, as nothing is fetched here. */
export function refuseUrl(url: string): never {
  const data = { url: url.slice(0, 200) }
  if (!pull.test(url))
    throw new CausewayError('INVALID_URL', 'the URL is not one of a pull request', { data })
  const [, owner, name, number] = pull.exec(url) ?? []
  throw new CausewayError('REVIEW_URL_DISABLED', 'pull requests are not fetched by this server', {
    remedy: `run gh pr diff ${number} --repo ${owner}/${name} and send its output as diff`,
    data,
  })
}
