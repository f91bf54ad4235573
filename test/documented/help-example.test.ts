import { readFileSync } from 'node:fs'
import t from 'tap'
import { startServer } from '../e2e/server-process.ts'
import { repository } from '../tree.ts'
import { verifies } from '../verifies.ts'
import { shellBlocks } from './blocks.ts'
import { run } from './program.ts'

t.setTimeout(300_000)

const { url } = await startServer(t, {
  dir: t.testdir(),
  env: { CAUSEWAY_HELP_BUILD: 'true', CAUSEWAY_HELP_SOURCES: 'pkg:fastify', CAUSEWAY_HELP_VECTORS: 'none' },
})

verifies('help:example', async (t) => {
  const [story] = shellBlocks(readFileSync(`${repository}/examples/ask-the-docs/README.md`, 'utf8'))
  const commands = story?.commands.trim().replace(/^node/, `'${process.execPath}'`)
  const { code, stdout, stderr } = await run(t, `${commands} FST_ERR_CTP_BODY_TOO_LARGE ${url}`, {})
  t.equal(code, 0, stderr)
  t.equal(stdout, story?.output)
})

verifies('help:example', 'a mistake is told in the words of the server', async (t) => {
  const { code, stderr } = await run(t, `'${process.execPath}' examples/ask-the-docs/ask.mjs ' ' ${url}`, {})
  t.equal(code, 1)
  t.match(stderr, /^ask: INVALID_ARGUMENTS: /)
})
