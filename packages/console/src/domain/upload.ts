/** Removes the extension and replaces characters that the server rejects. */
export function toRecordingName(fileName: string): string {
  const name = fileName
    .replace(/\.[^.]*$/, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+/, '')
    .slice(0, 64)
    .replace(/-+$/, '')
  return name === '' ? 'recording' : name
}

export interface UploadRejection {
  readonly code: string
  readonly message: string
  readonly remedy: string
}

/** First bytes of each format that can be uploaded, with its media type. */
const accepted = [
  ['SQLite format 3\0', 'application/vnd.sqlite3'],
  ['\x89MCAP0\r\n', 'application/x-mcap'],
] as const

/** First bytes of formats that the server reads only from its folders. */
const otherFormats = [
  ['\x89HDF\r\n', 'an HDF5 file'],
  ['PK', 'a zip file, such as npz'],
  ['PAR1', 'a Parquet file'],
] as const

export const headBytes = 64

/** Returns the media type for the first bytes of a file, or a rejection. */
export function findUploadType(head: Uint8Array, folders: readonly string[]): string | UploadRejection {
  const text = String.fromCharCode(...head.subarray(0, headBytes))
  if (/^\s*\{/.test(text)) return 'application/x-ndjson'
  const [, type] = accepted.find(([magic]) => text.startsWith(magic)) ?? []
  if (type !== undefined) return type
  const code = 'NOT_A_RECORDING'
  if (text.trim() === '') return { code, message: 'the file is empty', remedy: 'choose a file of frames' }
  const [, format] = otherFormats.find(([magic]) => text.startsWith(magic)) ?? []
  return {
    code,
    message: `the file is ${format ?? 'not JSON lines, MCAP or SQLite'}; it cannot be uploaded`,
    remedy: `copy the file into a folder that the server searches: ${folders.join(', ')}`,
  }
}

export const toPercent = (sentBytes: number, total: number): number =>
  total === 0 ? 100 : Math.floor((100 * sentBytes) / total)
