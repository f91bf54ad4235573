/** Opens ROS 2 bags (rosbag2): one or several files, MCAP or SQLite. */
import type { Call } from '@causeway/worker'
import type { Source, SourceDescription, SourceOptions, TopicDescription } from '../source.ts'
import { createLimitError } from '../tables/table.ts'
import { BagContent } from './bag-content.ts'
import { listParts } from './bag-files.ts'
import { BagFrames } from './bag-frames.ts'
import { readBagMapping } from './bag-mapping.ts'
import { type BagMessage, maxTopics, type PartResult, readMcapPart, readSqlitePart } from './bag-part.ts'
import { findKind } from './messages.ts'

const maxDescribedTopics = 200

export const openBag = async (path: string, options: SourceOptions): Promise<Source> =>
  new BagSource(path, await listParts(path), options)

class BagSource implements Source {
  readonly format = 'ROS 2 bag'
  /** ROS 2 defines frame names and quaternion order. */
  readonly needsMapping = false
  readonly #path: string
  readonly #parts: readonly string[]
  readonly #options: SourceOptions
  #notes: readonly string[] = []
  #isTruncated = false

  constructor(path: string, parts: readonly string[], options: SourceOptions) {
    this.#path = path
    this.#parts = parts
    this.#options = options
  }

  get notes(): readonly string[] {
    return this.#notes
  }

  get isTruncated(): boolean {
    return this.#isTruncated
  }

  async describe(call: Call): Promise<SourceDescription> {
    const counts = new Map<string, TopicDescription>()
    for await (const { topic } of this.#messages(call)) {
      const { name, type } = topic
      counts.set(name, { name, type, messages: (counts.get(name)?.messages ?? 0) + 1 })
      if (counts.size > maxTopics)
        throw createLimitError('the bag has too many topics', maxTopics, this.#path)
    }
    const topics = [...counts.values()]
    return {
      format: this.format,
      topics: topics.slice(0, maxDescribedTopics),
      proposed_mapping: null,
      notes: ['a bag needs no mapping; one may select bodies and declare masses'],
    }
  }

  async *frames(mapping: unknown, call: Call): AsyncGenerator<object> {
    const options = readBagMapping(mapping)
    const content = new BagContent(this.#path, options)
    for await (const message of this.#messages(call)) {
      content.count(message.topic)
      if (findKind(message.topic) !== undefined) content.add(message)
    }
    const frames = new BagFrames(content, options, this.#path)
    yield* frames.lines()
    this.#notes = [...content.notes, ...frames.notes]
  }

  async close(): Promise<void> {}

  async *#messages(call: Call): AsyncGenerator<BagMessage> {
    for (const part of this.#parts) {
      const messages: AsyncGenerator<BagMessage, PartResult> = /\.mcap$/i.test(part)
        ? readMcapPart(part, call)
        : readSqlitePart(part, this.#options.scratch, call)
      const { isTruncated } = yield* messages
      this.#isTruncated ||= isTruncated
    }
  }
}
