/** What only internal pages say, and whether an export says it too. */
import { decodeLsa, terms, words } from '@causeway/embed'
import type { Database } from 'better-sqlite3'
import { heldNeedles, needles } from '../domain/needles.ts'
import type { DocRow, HelpIndex } from '../storage.ts'

/** What must not leave: each of it is in internal pages and in no public one. */
export interface Evidence {
  /** Parts of lines, as bytes. */
  readonly needles: readonly Uint8Array[]
  readonly paths: readonly string[]
  readonly words: ReadonlySet<string>
}

/** Shorter words stand in public pages by chance. */
const tellingWord = 6

/** Gathers the evidence of an index. */
export async function gatherEvidence(index: HelpIndex): Promise<Evidence> {
  const docs = await index.docs({ internal: true })
  const [inside, outside] = [true, false].map((wanted) => docs.filter((doc) => doc.is_internal === wanted))
  const internal = await texts(index, inside ?? [])
  const open = await texts(index, outside ?? [])
  const openText = open.join('\n')
  const openWords = wordsOf(open)
  const parts = needles(internal.flatMap((text) => text.split('\n')).map((line) => Buffer.from(line.trim())))
  const alsoOpen = heldNeedles(Buffer.from(openText), parts)
  return {
    needles: parts.filter((part) => !alsoOpen.has(part)),
    paths: (inside ?? []).map(({ file_path }) => file_path).filter((path) => !openText.includes(path)),
    words: new Set(
      [...wordsOf(internal)].filter((word) => word.length >= tellingWord && !openWords.has(word)),
    ),
  }
}

/** What an export says of the evidence, in words; undefined where it says nothing. */
export function findLeak(evidence: Evidence, bytes: Uint8Array, db: Database): string | undefined {
  if (heldNeedles(bytes, evidence.needles).size > 0) return 'bytes of an internal page'
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (evidence.paths.some((path) => buffer.includes(path))) return 'the path of an internal page'
  if (indexedWords(db).some((word) => evidence.words.has(word)))
    return 'a word of internal pages in the index'
  const isModelled = modelWords(db).some((word) => evidence.words.has(word))
  return isModelled ? 'a word of internal pages in the vectors' : undefined
}

/** Everything that an index tells of these pages. */
async function texts(index: HelpIndex, docs: readonly DocRow[]): Promise<string[]> {
  const all: string[] = []
  for (const { doc_id, title, section, source, file_path, is_internal } of docs) {
    const body = (await index.body(doc_id, { internal: is_internal })) ?? ''
    all.push(`${body}\n${title}\n${section}\n${source}\n${file_path}`)
  }
  return all
}

/** Words and stems, as they stand and without accents, which the index drops. */
function wordsOf(all: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>()
  for (const text of all)
    for (const word of [...words(text), ...terms(text)]) {
      found.add(word)
      found.add(word.normalize('NFD').replace(/\p{M}/gu, ''))
    }
  return found
}

function indexedWords(db: Database): readonly string[] {
  db.exec('CREATE VIRTUAL TABLE temp.indexed_word USING fts5vocab(main, help_fts_exact, row)')
  return db.prepare<[], string>('SELECT term FROM temp.indexed_word').pluck().all()
}

function modelWords(db: Database): readonly string[] {
  const model = db.prepare<[], Buffer | null>('SELECT params FROM help_spaces').pluck().get()
  return model === null || model === undefined ? [] : [...decodeLsa(model).vocabulary.index.keys()]
}
