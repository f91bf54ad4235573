/** Sizes of the built console. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { repository } from '../tree.ts'
import { verifies } from '../verifies.ts'

const assets = join(repository, 'packages/console/pages/assets')

/** The compressed size of the assets whose names match, in bytes. */
const getSize = (pattern: RegExp): number =>
  readdirSync(assets)
    .filter((name) => pattern.test(name))
    .reduce((sum, name) => sum + gzipSync(readFileSync(join(assets, name))).length, 0)

verifies('console:size', async (t) => {
  const shell = getSize(/^index-.*\.(js|css)$/)
  t.ok(shell > 1000 && shell <= 25_000, `${shell} bytes`)
})
