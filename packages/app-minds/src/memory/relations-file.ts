import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { WordRelations } from '../domain/word-relations.ts'

const file = new URL('../../words/relations.txt.br', import.meta.url)

/** Reads the word relations of this package when they are first needed. */
export class RelationsFile {
  #relations: WordRelations | undefined

  get(): WordRelations {
    this.#relations ??= new WordRelations(brotliDecompressSync(readFileSync(file)).toString('utf8'))
    return this.#relations
  }
}
