interface Profile {
  readonly bases: ReadonlySet<string>
  readonly meanings: ReadonlySet<number>
  /** Similar, opposite, entailed or derived meanings. */
  readonly related: ReadonlySet<number>
  /** Broader meanings, each with its distance in steps. */
  readonly broader: ReadonlyMap<number, number>
  readonly definition: ReadonlySet<string>
  readonly definingMeanings: ReadonlySet<number>
}

const maxProfiles = 8192

/** Maximum number of cached matches, about 2 MB. */
const maxMatches = 16_384

/** Maximum number of kinds of a meaning for two of its kinds to count as alternatives. */
const maxSiblings = 12

const linesPerStep = 128

const endings: readonly (readonly [string, string])[] = [
  ['s', ''],
  ['ies', 'y'],
  ['es', 'e'],
  ['es', ''],
  ['ed', 'e'],
  ['ed', ''],
  ['ing', 'e'],
  ['ing', ''],
  ['er', ''],
  ['er', 'e'],
  ['est', ''],
  ['est', 'e'],
  ['men', 'man'],
]

/**
 * Word relations in the format of `data/README.md`: meanings of nouns, other meanings, and irregular forms with their
 * base forms, separated by empty lines. Meanings are decoded on demand.
 */
export class WordRelations {
  readonly #lines: readonly string[]
  /** Number of noun meanings, which precede all others. */
  readonly #nounCount: number
  readonly #meanings = new Map<string, number[]>()
  readonly #irregular = new Map<string, string[]>()
  readonly #related = new Map<number, number[]>()
  readonly #childCounts = new Map<number, number>()
  readonly #profiles = new Map<string, Profile>()
  readonly #matches = new Map<string, number>()

  private constructor(lines: readonly string[], nounCount: number) {
    this.#lines = lines
    this.#nounCount = nounCount
  }

  /** Yields between steps of less than a millisecond. */
  static *parse(text: string): Generator<void, WordRelations> {
    const [nouns = '', otherMeanings = '', irregularForms = ''] = text.split('\n\n')
    yield
    const nounLines = nouns.split('\n')
    yield
    const relations = new WordRelations([...nounLines, ...otherMeanings.split('\n')], nounLines.length)
    for (const n of relations.#lines.keys()) {
      if (n % linesPerStep === 0) yield
      relations.#addMeaning(n)
    }
    for (const [n, line] of irregularForms.split('\n').entries()) {
      if (n % linesPerStep === 0) yield
      const [form = '', base = ''] = line.split(' ')
      if (base !== '') append(relations.#irregular, form, base)
    }
    return relations
  }

  #addMeaning(n: number): void {
    const [words = '', broader, related] = this.#lines[n]?.split('\t') ?? []
    if (words !== '') for (const word of words.split(' ')) append(this.#meanings, word, n)
    for (const parent of toNumbers(broader))
      this.#childCounts.set(parent, (this.#childCounts.get(parent) ?? 0) + 1)
    for (const other of toNumbers(related)) {
      append(this.#related, n, other)
      append(this.#related, other, n)
    }
  }

  has(word: string): boolean {
    return this.#getProfile(word).meanings.size > 0
  }

  /** Returns how specific a word is, 0 to 1: 1 for at most one meaning, less for more. */
  getSpecificity(word: string): number {
    return 1 / Math.log2(2 + Math.max(0, this.#getProfile(word).meanings.size - 1))
  }

  /** Returns how well a memory's word matches a question's word, 0 to 1. Both must be lower case. */
  match(queryWord: string, memoryWord: string): number {
    if (queryWord === memoryWord) return 1
    const key = `${queryWord} ${memoryWord}`
    const cachedMatch = this.#matches.get(key)
    if (cachedMatch !== undefined) return cachedMatch
    const match = this.#compare(queryWord, memoryWord)
    if (this.#matches.size >= maxMatches) this.#matches.clear()
    this.#matches.set(key, match)
    return match
  }

  #compare(queryWord: string, memoryWord: string): number {
    const a = this.#getProfile(queryWord)
    const b = this.#getProfile(memoryWord)
    if (overlaps(a.bases, b.bases)) return 1
    if (overlaps(a.meanings, b.meanings)) return 0.9
    const broaderDistance = findMinSteps(a.meanings, b.broader)
    if (broaderDistance <= 4) return 0.9
    if (overlaps(a.meanings, b.related) || overlaps(a.related, b.meanings)) return 0.8
    if (broaderDistance < Number.POSITIVE_INFINITY) return 0.7
    if (findMinSteps(a.related, b.broader) <= 3) return 0.7
    if (findMinSteps(b.meanings, a.broader, this.#nounCount) <= 1) return 0.6
    if (overlaps(a.bases, b.definition) || overlaps(b.bases, a.definition)) return 0.6
    if (overlaps(a.related, b.definingMeanings) || overlaps(b.related, a.definingMeanings)) return 0.5
    return this.#areSiblings(a, b) ? 0.5 : 0
  }

  /** Whether two words are alternatives, such as two kinds of animal. */
  #areSiblings(a: Profile, b: Profile): boolean {
    for (const [meaning, steps] of a.broader) {
      if (
        meaning < this.#nounCount &&
        steps === 1 &&
        b.broader.get(meaning) === 1 &&
        (this.#childCounts.get(meaning) ?? 0) <= maxSiblings
      )
        return true
    }
    return false
  }

  #getProfile(word: string): Profile {
    const cachedProfile = this.#profiles.get(word)
    if (cachedProfile !== undefined) return cachedProfile
    const profile = this.#makeProfile(word)
    const [oldestWord] = this.#profiles.keys()
    if (this.#profiles.size >= maxProfiles && oldestWord !== undefined) this.#profiles.delete(oldestWord)
    this.#profiles.set(word, profile)
    return profile
  }

  #makeProfile(word: string): Profile {
    const bases = this.#findBases(word)
    const meanings = new Set([...bases].flatMap((base) => this.#meanings.get(base) ?? []))
    const broader = new Map<number, number>()
    const visit = (meaning: number, steps: number): void => {
      for (const parent of toNumbers(this.#lines[meaning]?.split('\t')[1])) {
        if ((broader.get(parent) ?? Number.POSITIVE_INFINITY) <= steps) continue
        broader.set(parent, steps)
        visit(parent, steps + 1)
      }
    }
    for (const meaning of meanings) visit(meaning, 1)
    const related = new Set([...meanings].flatMap((meaning) => this.#related.get(meaning) ?? []))
    const definition = new Set(
      [...meanings].flatMap((meaning) => this.#lines[meaning]?.split('\t')[3]?.split(' ') ?? []),
    )
    definition.delete('')
    const definingMeanings = new Set(
      [...definition].flatMap((definitionWord) => this.#meanings.get(definitionWord) ?? []),
    )
    return { bases, meanings, related, broader, definition, definingMeanings }
  }

  #findBases(word: string): ReadonlySet<string> {
    const irregularBases = this.#irregular.get(word)
    const regularBases =
      irregularBases === undefined
        ? endings.flatMap(([ending, base]) => {
            if (!word.endsWith(ending) || word.length - ending.length < 2) return []
            const root = word.slice(0, word.length - ending.length)
            return [root + base, ...(base === '' && /(.)\1$/.test(root) ? [root.slice(0, -1)] : [])]
          })
        : []
    const knownBases = [word, ...(irregularBases ?? []), ...regularBases].filter((base) =>
      this.#meanings.has(base),
    )
    return new Set(knownBases.length === 0 ? [word] : knownBases)
  }
}

function append<Key>(map: Map<Key, number[]>, key: Key, value: number): void
function append<Key>(map: Map<Key, string[]>, key: Key, value: string): void
function append<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const values = map.get(key)
  if (values === undefined) map.set(key, [value])
  else values.push(value)
}

const toNumbers = (field: string | undefined): readonly number[] =>
  field === undefined || field === '' ? [] : field.split(' ').map((n) => Number.parseInt(n, 36))

function overlaps<Value>(a: ReadonlySet<Value>, b: ReadonlySet<Value>): boolean {
  const [small, large] = a.size < b.size ? [a, b] : [b, a]
  for (const value of small) if (large.has(value)) return true
  return false
}

function findMinSteps(
  meanings: ReadonlySet<number>,
  broader: ReadonlyMap<number, number>,
  meaningLimit = Number.POSITIVE_INFINITY,
): number {
  let min = Number.POSITIVE_INFINITY
  for (const meaning of meanings) if (meaning < meaningLimit) min = Math.min(min, broader.get(meaning) ?? min)
  return min
}
