/**
 * Answers of analyses as a file beside a private copy, so that they outlive the server: they hold for the content that the
 * copy is named by, and for the code that found them.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { deserialize, serialize } from 'node:v8'
import type { Foreseen } from './types.ts'

/** The file that holds the answers of a private copy. */
export const answersFileOf = (copy: string): string => `${copy}-answers`

/** One question has one key. */
export const answerKey = ({ name, args }: Foreseen): string => JSON.stringify([name, args])

/** Answers of one file, by the keys of their questions. */
export interface AnswersFile {
  /** The answer, in a list of its own; an empty list where there is none. */
  find(question: Foreseen): readonly [answer?: unknown]
  keep(question: Foreseen, answer: unknown): void
}

interface Content {
  readonly revision: string
  readonly answers: ReadonlyMap<string, unknown>
}

/** Answers that code of this revision found; those of others are forgotten. */
export function answersFile(file: string, revision: string): AnswersFile {
  const known = read(file)
  let answers = known?.revision === revision ? known.answers : new Map<string, unknown>()
  return {
    find(question) {
      const key = answerKey(question)
      return answers.has(key) ? [answers.get(key)] : []
    },
    keep(question, answer) {
      answers = new Map(answers).set(answerKey(question), answer)
      const part = `${file}.part`
      writeFileSync(part, serialize({ revision, answers } satisfies Content), { mode: 0o600 })
      renameSync(part, file)
    },
  }
}

/** What stands in the file; undefined where there is none, or none that can be read: it is then found anew. */
function read(file: string): Content | undefined {
  try {
    return deserialize(readFileSync(file)) as Content
  } catch {
    return undefined
  }
}

/** Another one whenever a source below these folders is another one: answers of older code are not given. */
export function revisionOf(folders: readonly URL[]): string {
  const hash = createHash('sha256')
  for (const folder of folders.map((url) => fileURLToPath(url)))
    for (const name of (readdirSync(folder, { recursive: true }) as string[]).sort())
      if (/(?<!\.d)\.[jt]s$/.test(name)) hash.update(`${name}\0`).update(readFileSync(join(folder, name)))
  return hash.digest('hex')
}
