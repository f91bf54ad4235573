import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { readPrivateFile } from '@causeway/gateway/config'
import { writePrivateFile } from '@causeway/protocol'
import { z } from 'zod'
import { readIfExists, replaceFile } from '../replace-file.ts'
import { revertEntry } from './client-file.ts'
import type { Client } from './clients.ts'

const schema = z.array(
  z.object({
    client: z.string(),
    path: z.string(),
    /** `null` for a new file. */
    backup: z.string().nullable(),
    written: z.string(),
  }),
)

type Connection = z.infer<typeof schema>[number]

interface UndoResult {
  readonly path: string
  readonly isRestored: boolean
  /** `undefined` if the file is deleted. */
  readonly text: string | undefined
}

/** The files that `causeway connect` wrote, newest last. Stored in `connections.json`. */
export class Connections {
  readonly #path: string

  constructor(dataDir: string) {
    this.#path = join(dataDir, 'connections.json')
  }

  record(
    client: string,
    { path, text, backup }: { path: string; text: string; backup: string | undefined },
  ): void {
    const writtenHash = hash(text)
    this.#write([...this.#read(), { client, path, backup: backup ?? null, written: writtenHash }])
  }

  /**
   * Undoes the last write. If another program has changed the file since, reverts only Causeway's entry. Returns
   * `undefined` if nothing was written. Throws `CLIENT_FILE_REFUSED`.
   */
  undo(name: string, client: Client, { write = true } = {}): UndoResult | undefined {
    const connections = this.#read()
    const index = connections.findLastIndex((candidate) => candidate.client === name)
    const connection = connections[index]
    if (connection === undefined) return undefined
    const result = revert(connection, client, write)
    if (write) this.#write(connections.toSpliced(index, 1))
    return result
  }

  #read(): readonly Connection[] {
    const text = readPrivateFile(this.#path)
    return text === undefined ? [] : (schema.safeParse(JSON.parse(text)).data ?? [])
  }

  #write(connections: readonly Connection[]): void {
    writePrivateFile(this.#path, `${JSON.stringify(connections, null, 2)}\n`)
  }
}

function revert(
  { path, backup, written: writtenHash }: Connection,
  client: Client,
  write: boolean,
): UndoResult {
  const currentText = readIfExists(path)
  const originalText = backup === null ? undefined : readIfExists(backup)
  const canRestore =
    currentText !== undefined &&
    hash(currentText) === writtenHash &&
    (backup === null || originalText !== undefined)
  if (canRestore && originalText === undefined) {
    if (write) rmSync(path)
    return { path, isRestored: true, text: undefined }
  }
  const text = canRestore
    ? originalText
    : currentText && revertEntry(currentText, originalText, { path, client })
  if (write && text !== undefined && text !== currentText)
    replaceFile(path, { text, previousText: currentText })
  return { path, isRestored: canRestore, text }
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')
