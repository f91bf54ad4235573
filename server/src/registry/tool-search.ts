import type { JsonSchema } from '@causeway/protocol'
import Database from 'better-sqlite3'
import { sharedMount, type ToolEntry, toListedTool } from './mount.ts'
import type { Registry } from './registry.ts'

const maxWords = 32

const columns = ['name', 'hint', 'about', 'arguments', 'app'] as const

/** Ranks tools with BM25 over name, search hint, description, arguments and app. */
export class ToolSearch {
  readonly #registry: () => Pick<Registry, 'hash' | 'lists'>
  #index:
    | { readonly db: Database.Database; readonly hash: string; readonly entries: readonly ToolEntry[] }
    | undefined

  constructor(registry: () => Pick<Registry, 'hash' | 'lists'>) {
    this.#registry = registry
  }

  /** Returns listed tools of all apps, best first. */
  find(query: string, limit: number): readonly ToolEntry[] {
    const match = toMatch(query)
    if (match === '') return []
    const { db, entries } = this.#open()
    return db
      .prepare<[string, number], number>(
        'SELECT rowid FROM tool WHERE tool MATCH ? ORDER BY rank, rowid LIMIT ?',
      )
      .pluck()
      .all(match, limit)
      .map((row) => entries[row - 1] as ToolEntry)
  }

  close(): void {
    this.#index?.db.close()
    this.#index = undefined
  }

  #open() {
    const { hash, lists } = this.#registry()
    if (this.#index?.hash === hash) return this.#index
    this.close()
    const tools = lists.get(sharedMount.path)?.toolByName.values() ?? []
    const entries = [...new Set(tools)].filter(({ tool }) => tool.unlisted !== true)
    const db = new Database(':memory:')
    db.exec(`CREATE VIRTUAL TABLE tool USING fts5(${columns}, content='', tokenize='porter unicode61')`)
    const insert = db.prepare(`INSERT INTO tool (rowid, ${columns}) VALUES (?, ${columns.map(() => '?')})`)
    for (const [index, entry] of entries.entries()) insert.run(index + 1, ...toColumns(entry))
    this.#index = { db, hash, entries }
    return this.#index
  }
}

function toColumns({ instance: { app }, tool }: ToolEntry): readonly string[] {
  const { name, title, description, inputSchema } = toListedTool(sharedMount, app, tool)
  return [
    splitWords(`${name} ${title ?? ''}`),
    tool.searchHint ?? '',
    description,
    describeArguments(inputSchema),
    splitWords(`${app.name} ${app.about}`),
  ]
}

function describeArguments({ properties }: JsonSchema): string {
  const argumentSchemas = Object.entries(
    (properties ?? {}) as Record<string, { readonly description?: unknown }>,
  )
  return argumentSchemas
    .map(([name, { description }]) => `${splitWords(name)} ${description ?? ''}`)
    .join(' ')
}

/** `featureCollection` -> `feature Collection` */
const splitWords = (text: string): string => text.replace(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, ' ')

/** *where* is not a stop word, because it asks for a place. */
const stopWords: ReadonlySet<string> = new Set(
  'a an and are at be by do does for from i in is it its me my of on or our that the this to us we with you your'.split(
    ' ',
  ),
)

function toMatch(query: string): string {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const specificWords = words.filter((word) => !stopWords.has(word))
  return [...new Set(specificWords.length === 0 ? words : specificWords)]
    .slice(0, maxWords)
    .map((word) => `"${word}"`)
    .join(' OR ')
}
