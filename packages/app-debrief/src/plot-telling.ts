/** Telling views and clients what became of a plot. */
import type { Requester } from './plot.ts'
import type { Prepared } from './plot-methods.ts'
import { plotUri } from './plot-uri.ts'
import type { PlotEnv, Standing } from './standing.ts'

/** Who made the change, and whether it came from the file. */
export interface Told extends Requester {
  readonly isReload: boolean
}

/** The events of a change that is in force, and the resources that are others now. */
export function tellChange(
  { changed }: PlotEnv,
  plot: Standing,
  made: Prepared,
  { isReload, ...by }: Told,
): void {
  const { live, rev, filename } = plot
  if (isReload) live.tell(rev, 'reloaded', `"feature_count":${made.features}`)
  for (const { event, members } of made.events) {
    live.tell(rev, event, `"origin":${origin(by)},${members}`)
    const part = event === 'patch' ? 'features' : event
    changed.resource(plotUri(part, filename))
    // It may be the only open plot; who reads this of several is told so.
    changed.resource(plotUri(part))
  }
  tellNotices(plot, made, by)
}

/** What commands want to show; it changes nothing. */
export function tellNotices({ live, rev }: Standing, { notices }: Prepared, by: Requester): void {
  for (const notice of notices)
    live.tell(rev, 'notice', `"origin":${origin(by)},"notice":${JSON.stringify(notice)}`)
}

/** By which a view knows the echo of its own change. */
const origin = ({ requestId, client }: Requester): string =>
  JSON.stringify({ client: client.name, request: requestId })
