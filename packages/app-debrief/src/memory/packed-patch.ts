import { promisify } from 'node:util'
import { deflate, inflateSync } from 'node:zlib'

const compress = promisify(deflate)

/**
 * Maximum characters of a patch in the journal. A longer change is saved immediately and can be undone until the
 * process exits.
 */
export const maxPatchLength = 2 ** 20

const minPackedLength = 8192

/** Prefix of compressed patches in base64. Plain JSON starts with a brace. */
const prefix = 'z'

/** Compresses long patches to about a sixth, because writing a large journal is slow. */
export async function packPatch(json: string): Promise<string> {
  if (json.length < minPackedLength) return json
  return prefix + (await compress(json, { level: 1 })).toString('base64')
}

export const unpackPatch = (stored: string): string =>
  stored.startsWith(prefix) ? inflateSync(Buffer.from(stored.slice(1), 'base64')).toString() : stored
