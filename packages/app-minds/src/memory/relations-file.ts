import { readFile } from 'node:fs/promises'
import { setImmediate as turn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import { WordRelations } from '../domain/word-relations.ts'

const packedFile = new URL('../../words/relations.txt.br', import.meta.url)
const decompress = promisify(brotliDecompress)

/** Reads the word relations on first use. Parsing takes 200 ms in total, in short steps. */
export class RelationsFile {
  readonly #file: URL | string
  #relations: Promise<WordRelations> | undefined

  constructor(file: URL | string = packedFile) {
    this.#file = file
  }

  get(): Promise<WordRelations> {
    this.#relations ??= readRelations(this.#file).catch((error: unknown) => {
      // The next call reads the file again.
      this.#relations = undefined
      throw error
    })
    return this.#relations
  }
}

async function readRelations(file: URL | string): Promise<WordRelations> {
  const bytes = await decompress(await readFile(file))
  const iterator = WordRelations.parse(bytes.toString('utf8'))
  for (let result = iterator.next(); ; result = iterator.next()) {
    if (result.done) return result.value
    await turn()
  }
}
