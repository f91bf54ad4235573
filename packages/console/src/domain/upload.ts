/** Maximum length of a line that the server accepts, in bytes. */
export const maxLineBytes = 16 * 1024 ** 2

/** Returns the name of a recording for a file: without its extension, and only with the characters that the server accepts. */
export function toRecordingName(fileName: string): string {
  const name = fileName
    .replace(/\.[^.]*$/, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+/, '')
    .slice(0, 64)
    .replace(/-+$/, '')
  return name === '' ? 'recording' : name
}

/** Why a file cannot be uploaded, and what to do instead. */
export interface UploadRefusal {
  readonly code: string
  readonly message: string
  readonly remedy: string
}

/** First bytes of formats that the server only reads from its folders. */
const fileFormats = [
  ['SQLite format 3\0', 'an SQLite database'],
  ['\x89MCAP0\r\n', 'an MCAP file'],
  ['\x89HDF\r\n', 'an HDF5 file'],
  ['PK', 'a zip file, such as npz'],
  ['PAR1', 'a Parquet file'],
] as const

/** Number of bytes that `findRefusal` needs. */
export const headBytes = 64

/** Checks the first bytes of a file. Returns `undefined` for JSON lines. `folders` are those that the server searches. */
export function findRefusal(head: Uint8Array, folders: readonly string[]): UploadRefusal | undefined {
  const text = String.fromCharCode(...head.subarray(0, headBytes))
  if (/^\s*\{/.test(text)) return undefined
  const code = 'NOT_A_RECORDING'
  if (text.trim() === '')
    return { code, message: 'the file is empty', remedy: 'choose a file of frames as JSON lines' }
  const [, format] = fileFormats.find(([magic]) => text.startsWith(magic)) ?? []
  const remedy = `copy the file into a folder that the server searches: ${folders.join(', ')}`
  return format === undefined
    ? {
        code,
        message: 'the file does not contain frames as JSON lines',
        remedy: `for other formats, ${remedy}`,
      }
    : { code, message: `the file is ${format}; only JSON lines can be uploaded`, remedy }
}

/** Returns the progress of an upload in whole percent. */
export const toPercent = (sent: number, total: number): number =>
  total === 0 ? 100 : Math.floor((100 * sent) / total)
