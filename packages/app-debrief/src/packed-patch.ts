/**
 * Patches as the data file keeps them: a change of one long track names it twice, and what is written for each change
 * decides how often SQLite has to wait for the disk. Long ones are packed, to about a sixth.
 */
import { promisify } from 'node:util'
import { deflate, inflateSync } from 'node:zlib'

const pack = promisify(deflate)

/** Shorter patches are kept as they are, characters. */
const longEnough = 8192

/** JSON of a patch begins with a brace; this letter says that the rest is packed, in base64. */
const mark = 'z'

/** What is kept of the JSON of a patch. */
export async function packed(json: string): Promise<string> {
  if (json.length < longEnough) return json
  return mark + (await pack(json, { level: 1 })).toString('base64')
}

/** The JSON that was kept. */
export const unpacked = (kept: string): string =>
  kept.startsWith(mark) ? inflateSync(Buffer.from(kept.slice(1), 'base64')).toString() : kept
