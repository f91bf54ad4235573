import { promisify } from 'node:util'
import { deflate, inflateSync } from 'node:zlib'

const compress = promisify(deflate)

/** The journal does not store longer patches. They are saved immediately and can be undone until the process ends. Characters. */
export const maxPatchLength = 2 ** 20

/** Characters. */
const minPackedLength = 8192

/** Prefix of compressed patches in base64. JSON starts with a brace. */
const prefix = 'z'

/** Compresses a long patch to about a sixth, since the size of the journal determines how often SQLite waits for the disk. */
export async function packPatch(json: string): Promise<string> {
  if (json.length < minPackedLength) return json
  return prefix + (await compress(json, { level: 1 })).toString('base64')
}

export const unpackPatch = (stored: string): string =>
  stored.startsWith(prefix) ? inflateSync(Buffer.from(stored.slice(1), 'base64')).toString() : stored
