/** Reads the database files of WordNet (manual page `wndb`). */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A meaning that some words share: a synonym set of WordNet. */
export interface Meaning {
  readonly id: string
  readonly pos: string
  readonly words: readonly string[]
  /** Symbols of relations with the ids of other meanings. */
  readonly pointers: readonly (readonly [symbol: string, id: string])[]
  /** The definition without its examples. */
  readonly definition: string
}

/** `words` maps each word with its part of speech, such as `noun:dog`, to its meanings, the most frequent first. */
export interface WordNet {
  readonly meanings: ReadonlyMap<string, Meaning>
  readonly words: ReadonlyMap<string, readonly string[]>
  /** Occurrences of a word in one meaning, `<meaning>:<word>`, in the tagged texts of WordNet. */
  readonly occurrences: ReadonlyMap<string, number>
  /** Irregular forms, such as `noun:mice`, with their base forms. */
  readonly irregular: ReadonlyMap<string, string>
}

export const partsOfSpeech = ['noun', 'verb', 'adj', 'adv'] as const

const byLetter: Readonly<Record<string, string>> = { n: 'noun', v: 'verb', a: 'adj', s: 'adj', r: 'adv' }

/** Parts of speech by the number in a sense key. */
const byNumber = ['', 'noun', 'verb', 'adj', 'adv', 'adj']

/** Reads the folder with `data.noun`, `index.noun`, `noun.exc` and so on. */
export function readWordNet(folder: string): WordNet {
  const lines = (name: string): readonly string[] =>
    readFileSync(join(folder, name), 'latin1')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith(' '))
  const meanings = new Map<string, Meaning>()
  const words = new Map<string, readonly string[]>()
  const irregular = new Map<string, string>()
  for (const pos of partsOfSpeech) {
    for (const line of lines(`data.${pos}`)) {
      const meaning = parseMeaning(pos, line)
      meanings.set(meaning.id, meaning)
    }
    for (const line of lines(`index.${pos}`)) {
      const fields = line.trim().split(' ')
      const offsets = fields.slice(-Number(fields[2]))
      words.set(
        `${pos}:${fields[0]}`,
        offsets.map((offset) => pos + offset),
      )
    }
    for (const line of lines(`${pos}.exc`)) {
      const [form, base = ''] = line.split(' ')
      irregular.set(`${pos}:${form}`, base)
    }
  }
  const occurrences = new Map<string, number>()
  for (const line of lines('index.sense')) {
    const [key = '', offset, , count] = line.split(' ')
    const [word, rest = ''] = key.split('%')
    occurrences.set(`${byNumber[Number(rest[0])]}${offset}:${word}`, Number(count))
  }
  return { meanings, words, occurrences, irregular }
}

/** Parses a line: offset, file, type, number of words, words with ids, number of pointers, pointers, definition. */
function parseMeaning(pos: string, line: string): Meaning {
  const [head = '', definition = ''] = line.split(' | ')
  const fields = head.split(' ')
  const wordCount = Number.parseInt(fields[3] ?? '0', 16)
  const words = Array.from({ length: wordCount }, (_, n) => (fields[4 + 2 * n] ?? '').replace(/\(.*\)$/, ''))
  const first = 4 + 2 * wordCount
  const pointers = Array.from({ length: Number(fields[first]) }, (_, n) => {
    const [symbol = '', offset = '', letter = ''] = fields.slice(first + 1 + 4 * n)
    return [symbol, `${byLetter[letter]}${offset}`] as const
  })
  return { id: `${pos}${fields[0]}`, pos, words, pointers, definition: definition.replace(/"[^"]*"?/g, ' ') }
}
