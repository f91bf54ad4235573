/** A process that rewrites every page and builds repeatedly until it is killed. It prints each completed round. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from '../../src/build/build.ts'
import { readSources } from '../../src/build/source.ts'
import { defaultSize } from '../../src/domain/chunk.ts'
import { makeHolder } from '../../src/storage/lock-holder.ts'
import { openSqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import { makePage, pageCount } from './rounds.ts'

const [folder = '', from = '0'] = process.argv.slice(2)
const now = Date.now
const storage = openSqliteStorage(join(folder, 'data'), now)
const request = {
  sources: readSources(['docs=docs'], folder),
  size: defaultSize,
  embedding: { provider: 'lsa' },
  rebuild: false,
  holder: makeHolder(`round-${from}`),
} as const
for (let round = Number(from); ; round++) {
  for (let page = 0; page < pageCount; page++)
    writeFileSync(join(folder, `docs/p${page}.md`), makePage(page, round))
  await build(request, { storage, now, signal: new AbortController().signal, progress() {} })
  process.stdout.write(`${round}\n`)
}
