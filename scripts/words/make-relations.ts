/** Writes `relations.txt.br` from the database files of WordNet: `node scripts/words/make-relations.ts <folder>`. */
import { writeFileSync } from 'node:fs'
import { brotliCompressSync } from 'node:zlib'
import { type Meaning, partsOfSpeech, readWordNet, type WordNet } from './wordnet.ts'

/** A word is included if it occurs in this many definitions, or in a tagged text. */
const minDefinitions = 3
/** Meanings per word and part of speech; others only with this share of at least two occurrences. */
const maxMeanings = { noun: 3, verb: 2, adj: 3, adv: 3 }
const minShare = 0.1
/** Words per definition, the rarest first, and definitions in which such a word may occur. */
const maxDefining = 6
const maxDefinitions = 250

const split = (text: string): ReadonlySet<string> => new Set(text.split(' '))
const functionWords = split(
  'a an the of or in to that by and for with as from is are be at it its into not than when their his her also without during where most this no like them they was do does did i he she we you',
)
const emptyWords = split(
  `${[...functionWords].join(' ')} being been on used having who which one usually very especially some something someone person has have can made make any other such etc more out up under through often between relating but about over all`,
)

/** Similar, derived, opposite and entailed meanings, causes, groups and participles. */
const relatedSymbols = new Set(['&', '+', '*', '>', '$', '!', '=', '<', '\\'])

const endings: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  noun: [...pairs('s: ses:s xes:x zes:z ches:ch shes:sh men:man ies:y')],
  verb: [...pairs('s: ies:y es:e es: ed:e ed: ing:e ing:')],
  adj: [...pairs('er: est: er:e est:e')],
  adv: [],
}

function* pairs(text: string): Generator<readonly [string, string]> {
  for (const pair of text.split(' ')) {
    const [ending = '', base = ''] = pair.split(':')
    yield [ending, base]
  }
}

class RelationsWriter {
  readonly #net: WordNet
  readonly #bases = new Map<string, readonly string[]>()

  constructor(net: WordNet) {
    this.#net = net
  }

  write(): string {
    const vocabulary = this.#chooseVocabulary()
    const words = this.#chooseMeanings(vocabulary)
    const ids = [...this.#net.meanings.keys()].filter((id) => words.has(id))
    const order = [
      ...ids.filter((id) => id.startsWith('noun')),
      ...ids.filter((id) => !id.startsWith('noun')),
    ]
    const numbers = new Map(order.map((id, n) => [id, n]))
    const definitions = new Map(order.map((id) => [id, this.#define(id, words.get(id) ?? [], vocabulary)]))
    const counts = count([...definitions.values()].flat())
    const toLine = (id: string): string => {
      const own = words.get(id) ?? []
      const rare = (definitions.get(id) ?? [])
        .filter((word) => (counts.get(word) ?? 0) <= maxDefinitions)
        .sort((a, b) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0))
      const defining = own.some((word) => this.#isFirst(id, word)) ? rare.slice(0, maxDefining) : []
      const broader = this.#findBroader(id, words)
      // One direction is enough.
      const related = this.#findRelated(id).filter((to) => id < to || !this.#findRelated(to).includes(id))
      return [own, toNumbers(broader, numbers), toNumbers(related, numbers), defining]
        .map((field) => field.join(' '))
        .join('\t')
    }
    const nouns = order.filter((id) => id.startsWith('noun')).map(toLine)
    const others = order.filter((id) => !id.startsWith('noun')).map(toLine)
    const irregular = [...this.#net.irregular]
      .map(([form, base]) => [form.slice(form.indexOf(':') + 1), base] as const)
      .filter(([form, base]) => vocabulary.has(base) && /^[a-z]+$/.test(form))
      .map((pair) => pair.join(' '))
    return [nouns, others, [...new Set(irregular)]].map((lines) => lines.join('\n')).join('\n\n')
  }

  #get(id: string): Meaning {
    const meaning = this.#net.meanings.get(id)
    if (meaning === undefined) throw new Error(`${id} is not a meaning of WordNet`)
    return meaning
  }

  /** Common words of one part, without names. */
  #chooseVocabulary(): ReadonlySet<string> {
    const { meanings, words, occurrences } = this.#net
    const inDefinitions = count(
      [...meanings.values()].flatMap(({ definition }) => this.#listWords(definition)),
    )
    const tagged = new Set([...occurrences].filter(([, n]) => n > 0).map(([key]) => key.split(':')[1]))
    const all = new Set([...words.keys()].map((key) => key.slice(key.indexOf(':') + 1)))
    const isCommon = (word: string): boolean =>
      (inDefinitions.get(word) ?? 0) >= minDefinitions || tagged.has(word)
    return new Set(
      [...all].filter(
        (word) =>
          /^[a-z]{2,}$/.test(word) && !functionWords.has(word) && isCommon(word) && !this.#isName(word),
      ),
    )
  }

  #isName(word: string): boolean {
    const ids = partsOfSpeech.flatMap((pos) => this.#net.words.get(`${pos}:${word}`) ?? [])
    return ids.every((id) => {
      const { words, pointers } = this.#get(id)
      const isCapitalized = words.some((other) => other !== word && other.toLowerCase() === word)
      return isCapitalized || pointers.some(([symbol]) => symbol === '@i')
    })
  }

  /** Returns the words of each chosen meaning. */
  #chooseMeanings(vocabulary: ReadonlySet<string>): ReadonlyMap<string, readonly string[]> {
    const chosen = new Map<string, string[]>()
    for (const word of vocabulary)
      for (const pos of partsOfSpeech) {
        const ids = this.#net.words.get(`${pos}:${word}`) ?? []
        const counts = ids.map((id) => this.#net.occurrences.get(`${id}:${word}`) ?? 0)
        const total = counts.reduce((sum, n) => sum + n, 0)
        for (const [n, id] of ids.entries()) {
          const own = counts[n] ?? 0
          if (n >= maxMeanings[pos] && (own < 2 || own / total < minShare)) continue
          chosen.set(id, [...(chosen.get(id) ?? []), word])
        }
      }
    return chosen
  }

  /** Returns the nearest broader meanings that have words. */
  #findBroader(id: string, words: ReadonlyMap<string, unknown>): ReadonlySet<string> {
    const parents = this.#get(id).pointers.flatMap(([symbol, to]) => (/^@i?$/.test(symbol) ? [to] : []))
    return new Set(parents.flatMap((to) => (words.has(to) ? [to] : [...this.#findBroader(to, words)])))
  }

  #findRelated(id: string): readonly string[] {
    const { pointers } = this.#get(id)
    return [...new Set(pointers.flatMap(([symbol, to]) => (relatedSymbols.has(symbol) ? [to] : [])))]
  }

  #define(id: string, own: readonly string[], vocabulary: ReadonlySet<string>): readonly string[] {
    return this.#listWords(this.#get(id).definition).filter(
      (word) => vocabulary.has(word) && !own.includes(word),
    )
  }

  #isFirst(id: string, word: string): boolean {
    return this.#net.words.get(`${this.#get(id).pos}:${word}`)?.[0] === id
  }

  /** Returns the base forms of the content words of a definition, without repetitions. */
  #listWords(text: string): readonly string[] {
    const forms = (text.toLowerCase().match(/[a-z]{2,}/g) ?? []).filter((word) => !emptyWords.has(word))
    return [...new Set([...new Set(forms)].flatMap((form) => this.#findBases(form)))]
  }

  #findBases(form: string): readonly string[] {
    const known = this.#bases.get(form)
    if (known !== undefined) return known
    const bases = new Set<string>()
    for (const pos of partsOfSpeech) {
      const irregular = this.#net.irregular.get(`${pos}:${form}`)
      const regular = (endings[pos] ?? []).flatMap(([ending, base]) =>
        form.endsWith(ending) ? [form.slice(0, form.length - ending.length) + base] : [],
      )
      const candidates = irregular === undefined ? [form, ...regular] : [form, irregular]
      for (const base of candidates) if (this.#net.words.has(`${pos}:${base}`)) bases.add(base)
    }
    this.#bases.set(form, [...bases])
    return [...bases]
  }
}

function count(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

const toNumbers = (ids: Iterable<string>, numbers: ReadonlyMap<string, number>): readonly string[] =>
  [...ids].flatMap((id) => numbers.get(id)?.toString(36) ?? [])

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('pass the folder with the database files of WordNet')
const text = new RelationsWriter(readWordNet(folder)).write()
writeFileSync(
  new URL('../../packages/app-minds/words/relations.txt.br', import.meta.url),
  brotliCompressSync(text),
)
