interface ArchivedFile {
  /** Path with slashes, below the archive's first folder. */
  readonly path: string
  readonly bytes: Uint8Array
}

const block = 512

/** Yields the files of a POSIX ustar archive with pax and GNU long names, up to the first damaged entry. */
export function* listArchive(bytes: Uint8Array): Generator<ArchivedFile> {
  let longName: string | undefined
  for (let offset = 0; offset + block <= bytes.length; ) {
    const header = bytes.subarray(offset, offset + block)
    const size = Number.parseInt(readText(header, 124, 12).trim(), 8)
    if (header.every((byte) => byte === 0) || !Number.isSafeInteger(size)) return
    const content = bytes.subarray(offset + block, offset + block + size)
    if (content.length < size) return
    const type = String.fromCharCode(header[156] ?? 0)
    if (type === 'x') longName = readPaxPath(content) ?? longName
    else if (type === 'L') longName = readText(content, 0, size)
    else {
      const isUstar = readText(header, 257, 5) === 'ustar'
      const prefix = isUstar ? readText(header, 345, 155) : ''
      const name = readText(header, 0, 100)
      const path = longName ?? (prefix === '' ? name : `${prefix}/${name}`)
      longName = undefined
      if (type === '0' || type === '\0') yield { path: path.slice(path.indexOf('/') + 1), bytes: content }
    }
    offset += block + Math.ceil(size / block) * block
  }
}

function readText(bytes: Uint8Array, from: number, length: number): string {
  const field = bytes.subarray(from, from + length)
  const end = field.indexOf(0)
  return new TextDecoder().decode(end < 0 ? field : field.subarray(0, end))
}

/** Reads `path` from lines such as `27 path=package/docs/a.md`, which start with their length in bytes. */
function readPaxPath(content: Uint8Array): string | undefined {
  for (let offset = 0; offset < content.length; ) {
    const space = content.indexOf(32, offset)
    const length = Number.parseInt(readText(content, offset, space - offset), 10)
    if (space < 0 || !(length > 0)) return undefined
    const record = readText(content, space + 1, length - (space - offset) - 2)
    if (record.startsWith('path=')) return record.slice('path='.length)
    offset += length
  }
  return undefined
}
