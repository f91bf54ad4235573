import { globSync, readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { chromiumPath } from '../browser/browser.ts'
import { repository } from '../tree.ts'
import { run } from './program.ts'

t.setTimeout(300_000)

/** Width and height of a PNG file or an animated WebP, from its header. */
function readSize(path: string): readonly number[] {
  const bytes = readFileSync(path)
  if (path.endsWith('.webp')) return [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1]
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
}

const committed = `${repository}/docs/pictures`

t.test('npm run pictures draws every committed picture in its size', async (t) => {
  const folder = t.testdir()
  const script = `'${process.execPath}' --conditions=@causeway/source scripts/pictures.ts '${folder}'`
  const { code, stderr } = await run(t, script, {})
  t.equal(code, 0, stderr)
  const drawn = readdirSync(committed).filter(
    (name) => chromiumPath !== undefined || !name.startsWith('console'),
  )
  t.same(readdirSync(folder).sort(), drawn.sort())
  for (const name of readdirSync(folder))
    t.same(readSize(`${folder}/${name}`), readSize(`${committed}/${name}`), name)
})

t.test('every committed picture is small and shown in a document with a description', async (t) => {
  const pages = globSync(['README.md', 'docs/*.md', 'packages/*/README.md'], { cwd: repository })
  const text = pages.map((page) => readFileSync(`${repository}/${page}`, 'utf8')).join('\n')
  for (const name of readdirSync(committed)) {
    t.match(text, new RegExp(`!\\[.{20,}\\]\\(\\S*pictures/${name}\\)`), name)
    t.ok(readFileSync(`${committed}/${name}`).length < (name.endsWith('.webp') ? 600_000 : 150_000), name)
  }
})
