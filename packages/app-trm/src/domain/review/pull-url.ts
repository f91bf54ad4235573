import { CausewayError } from '@causeway/protocol'

/** A pull request on GitHub. */
export interface PullRequest {
  readonly owner: string
  readonly name: string
  readonly number: number
}

/** Letters as GitHub allows them. */
const pull = /^https:\/\/github\.com\/([A-Za-z0-9-]{1,39})\/([A-Za-z0-9._-]{1,100})\/pull\/(\d{1,9})$/

/** The pull request that a URL names; throws `INVALID_URL`. */
export function pullRequest(url: string): PullRequest {
  const [, owner, name, number] = pull.exec(url) ?? []
  if (owner === undefined || name === undefined || number === undefined || /^\.+$/.test(name))
    throw new CausewayError('INVALID_URL', 'the URL is not one of a pull request', {
      data: { url: url.slice(0, 200) },
    })
  return { owner, name, number: Number(number) }
}

/** Where its diff is. */
export const diffUrl = ({ owner, name, number }: PullRequest): string =>
  `https://github.com/${owner}/${name}/pull/${number}.diff`

/** True for the hosts that GitHub sends a diff from. */
export const isDiffHost = ({ protocol, host }: URL): boolean =>
  protocol === 'https:' && (host === 'github.com' || host === 'patch-diff.githubusercontent.com')

/** The error of a server that fetches nothing. */
export const fetchingOff = ({ owner, name, number }: PullRequest): CausewayError =>
  new CausewayError('REVIEW_URL_DISABLED', 'pull requests are not fetched by this server', {
    remedy: `run gh pr diff ${number} --repo ${owner}/${name} and send its output as diff, or set CAUSEWAY_TRM_REVIEW_URL`,
    data: { owner, name, number },
  })
