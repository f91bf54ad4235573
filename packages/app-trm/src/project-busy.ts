/** One project, one evaluation: what another session lands meanwhile would be judged as this one's. */
import { CausewayError } from '@causeway/protocol'

/** The error of a project in which another session evaluates a candidate. */
export const projectBusy = (repo: string, sid: string): CausewayError =>
  new CausewayError('PROJECT_BUSY', `another session evaluates a candidate in ${repo}: ${sid}`, {
    data: { repo, sid },
  })

/** True where one folder is the other or lies in it. */
export const overlaps = (a: string, b: string): boolean =>
  a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`)
