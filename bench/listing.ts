import { documented } from '../scripts/docs/makers.ts'
import { sharedMount, toListedTool } from '../server/src/registry/mount.ts'
import { number, type Section } from './report.ts'

/** Budget of an app's listing and of one tool in bytes: models read the whole listing. */
const caps = { app: 25_000, tool: 2000 }

/** Measures the bytes that each app adds to `tools/list` on the shared mount. */
export function measureListing(): Section {
  return {
    title: 'Size of the listings',
    about: 'JSON of each tool in the list of the shared mount.',
    head: ['app', 'tools', 'bytes', `of ${number(caps.app)}`, 'largest tool', `of ${number(caps.tool)}`],
    rows: documented.map((app) => {
      const sizes = app.tools
        .filter(({ unlisted }) => unlisted !== true)
        .map((tool) => Buffer.byteLength(JSON.stringify(toListedTool(sharedMount, app, tool))))
      const total = sizes.reduce((sum, bytes) => sum + bytes, 0)
      const largest = Math.max(...sizes)
      return [
        app.name,
        String(sizes.length),
        number(total),
        share(total, caps.app),
        number(largest),
        share(largest, caps.tool),
      ]
    }),
  }
}

const share = (bytes: number, cap: number): string => `${Math.round((bytes / cap) * 100)} %`
