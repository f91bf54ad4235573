/** Checks the sizes of the built console. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { repository } from '../tree.ts'
import { verifies } from '../verifies.ts'

const pages = join(repository, 'packages/console/pages')
const assets = join(pages, 'assets')

/** Returns the compressed size of the assets whose names match, in bytes. */
const getSize = (pattern: RegExp): number =>
  readdirSync(assets)
    .filter((name) => pattern.test(name))
    .reduce((sum, name) => sum + gzipSync(readFileSync(join(assets, name))).length, 0)

verifies('console:size', async (t) => {
  const shell = getSize(/^index-.*\.css$/) + getPageSize(/^index-.*\.js$/)
  t.ok(shell > 1000 && shell <= 25_000, `${shell} bytes`)
})

/** Maximum sizes of widgets in bytes. They are not compressed, because clients load a widget together with a result. */
const widgetBudgets = { series: 80_000, scene: 750_000, map: 250_000, decision: 60_000 }

verifies('console:size', 'widgets stay within their budgets', async (t) => {
  for (const [name, budget] of Object.entries(widgetBudgets)) {
    const { size } = statSync(join(pages, 'widgets', `${name}.html`))
    t.ok(size > 10_000 && size <= budget, `${name}: ${size} bytes`)
  }
})

/**
 * Returns the compressed size in bytes of a page's script and of all scripts that it imports, except those of the
 * shell.
 */
function getPageSize(pattern: RegExp): number {
  const names = readdirSync(assets).filter((name) => pattern.test(name))
  const found = new Set(names)
  for (const name of found)
    for (const [, imported = ''] of readFileSync(join(assets, name), 'utf8').matchAll(
      /(?:from|import)\s*["'`]\.\/([\w-]+\.js)["'`]/g,
    ))
      if (!imported.startsWith('index-')) found.add(imported)
  return [...found].reduce((sum, name) => sum + gzipSync(readFileSync(join(assets, name))).length, 0)
}

verifies('console:size', 'pages with libraries, and the palette, stay within their budgets', async (t) => {
  for (const [pattern, least, budget] of [
    [/^viewer-.*\.js$/, 100_000, 190_000],
    [/^plot-page-.*\.js$/, 40_000, 55_000],
    [/^palette-.*\.js$/, 2000, 8000],
  ] as const) {
    const size = getPageSize(pattern)
    t.ok(size > least && size <= budget, `${pattern}: ${size} bytes`)
  }
})
