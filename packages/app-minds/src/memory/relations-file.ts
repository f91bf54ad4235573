import { readFile } from 'node:fs/promises'
import { setImmediate as turn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import { WordRelations } from '../domain/word-relations.ts'

const file = new URL('../../words/relations.txt.br', import.meta.url)
const decompress = promisify(brotliDecompress)

/** Reads the word relations of this package once, when they are first needed. Parsing takes 200 ms in short steps. */
export class RelationsFile {
  #relations: Promise<WordRelations> | undefined

  get(): Promise<WordRelations> {
    this.#relations ??= readRelations()
    return this.#relations
  }
}

async function readRelations(): Promise<WordRelations> {
  const bytes = await decompress(await readFile(file))
  const steps = WordRelations.parse(bytes.toString('utf8'))
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value
    await turn()
  }
}
