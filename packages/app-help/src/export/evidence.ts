import { decodeLsa, listTerms, splitWords } from '@causeway/embed'
import type { Database } from 'better-sqlite3'
import { cutNeedles, findNeedles } from '../domain/needles.ts'
import type { DocRow, HelpIndex } from '../storage/types.ts'

/** Data that occurs only in internal pages. */
export interface Evidence {
  readonly needles: readonly Uint8Array[]
  readonly paths: readonly string[]
  readonly words: ReadonlySet<string>
}

const minWordLength = 6

export async function collectEvidence(index: HelpIndex): Promise<Evidence> {
  const docs = await index.listDocs({ internal: true })
  const [internalDocs, publicDocs] = [true, false].map((internal) =>
    docs.filter((doc) => doc.is_internal === internal),
  )
  const internal = await listTexts(index, internalDocs ?? [])
  const publicTexts = await listTexts(index, publicDocs ?? [])
  const publicText = publicTexts.join('\n')
  const publicWords = collectWords(publicTexts)
  const candidates = cutNeedles(
    internal.flatMap((text) => text.split('\n')).map((line) => Buffer.from(line.trim())),
  )
  const publicNeedles = findNeedles(Buffer.from(publicText), candidates)
  return {
    needles: candidates.filter((needle) => !publicNeedles.has(needle)),
    paths: (internalDocs ?? [])
      .map(({ file_path }) => file_path)
      .filter((path) => !publicText.includes(path)),
    words: new Set(
      [...collectWords(internal)].filter((word) => word.length >= minWordLength && !publicWords.has(word)),
    ),
  }
}

export function findLeak(evidence: Evidence, bytes: Uint8Array, db: Database): string | undefined {
  if (findNeedles(bytes, evidence.needles).size > 0) return 'bytes of an internal page'
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (evidence.paths.some((path) => buffer.includes(path))) return 'the path of an internal page'
  if (listIndexedWords(db).some((word) => evidence.words.has(word)))
    return 'a word of internal pages in the index'
  const isModelled = listModelWords(db).some((word) => evidence.words.has(word))
  return isModelled ? 'a word of internal pages in the vectors' : undefined
}

async function listTexts(index: HelpIndex, docs: readonly DocRow[]): Promise<string[]> {
  const texts: string[] = []
  for (const { doc_id, title, section, source, file_path, is_internal } of docs) {
    const body = (await index.readBody(doc_id, { internal: is_internal })) ?? ''
    texts.push(`${body}\n${title}\n${section}\n${source}\n${file_path}`)
  }
  return texts
}

/** Returns words and stems, with and without accents, because the index removes accents. */
function collectWords(texts: readonly string[]): ReadonlySet<string> {
  const words = new Set<string>()
  for (const text of texts)
    for (const word of [...splitWords(text), ...listTerms(text)]) {
      words.add(word)
      words.add(word.normalize('NFD').replace(/\p{M}/gu, ''))
    }
  return words
}

function listIndexedWords(db: Database): readonly string[] {
  db.exec('CREATE VIRTUAL TABLE temp.indexed_word USING fts5vocab(main, help_fts_exact, row)')
  return db.prepare<[], string>('SELECT term FROM temp.indexed_word').pluck().all()
}

function listModelWords(db: Database): readonly string[] {
  const model = db.prepare<[], Buffer | null>('SELECT params FROM help_spaces').pluck().get()
  return model === null || model === undefined ? [] : [...decodeLsa(model).vocabulary.index.keys()]
}
