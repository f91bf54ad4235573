import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { deserialize, serialize } from 'node:v8'
import type { AnalysisRequest } from '../types.ts'

export const getAnswersFilePath = (copy: string): string => `${copy}-answers`

export const getAnswerKey = ({ name, args }: AnalysisRequest): string => JSON.stringify([name, args])

interface Content {
  readonly revision: string
  readonly answers: ReadonlyMap<string, unknown>
}

/** Analysis results of one revision of the code. */
export class AnswersFile {
  readonly #file: string
  readonly #revision: string
  #answers: ReadonlyMap<string, unknown>

  constructor(file: string, revision: string) {
    this.#file = file
    this.#revision = revision
    const content = readContent(file)
    this.#answers = content?.revision === revision ? content.answers : new Map()
  }

  find(request: AnalysisRequest): readonly [answer?: unknown] {
    const key = getAnswerKey(request)
    return this.#answers.has(key) ? [this.#answers.get(key)] : []
  }

  add(request: AnalysisRequest, answer: unknown): void {
    this.#answers = new Map(this.#answers).set(getAnswerKey(request), answer)
    const content: Content = { revision: this.#revision, answers: this.#answers }
    const partFile = `${this.#file}.part`
    writeFileSync(partFile, serialize(content), { mode: 0o600 })
    renameSync(partFile, this.#file)
  }
}

/** Returns `undefined` if the file is missing or malformed. */
function readContent(file: string): Content | undefined {
  try {
    return deserialize(readFileSync(file)) as Content
  } catch {
    return undefined
  }
}

export function hashSources(folders: readonly URL[]): string {
  const hash = createHash('sha256')
  for (const folder of folders.map((url) => fileURLToPath(url)))
    for (const name of (readdirSync(folder, { recursive: true }) as string[]).sort())
      if (/(?<!\.d)\.[jt]s$/.test(name)) hash.update(`${name}\0`).update(readFileSync(join(folder, name)))
  return hash.digest('hex')
}
