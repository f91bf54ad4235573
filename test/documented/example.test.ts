import { cpSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { startServer } from '../e2e/server-process.ts'
import { repository } from '../tree.ts'
import { verifies } from '../verifies.ts'
import { shellBlocks } from './blocks.ts'
import { run } from './program.ts'

const node = `'${process.execPath}'`
const folder = t.testdir({ data: {}, projects: {} })
cpSync(`${repository}/fixtures/projects`, `${folder}/projects`, { recursive: true })
const { url } = await startServer(t, {
  dir: `${folder}/data`,
  cwd: repository,
  env: {
    CAUSEWAY_USER_APPS: './examples/hello-app/app.ts',
    CAUSEWAY_TRM_ROOTS: `${folder}/projects`,
  },
})

const documented = (folder: string) =>
  shellBlocks(readFileSync(`${repository}/examples/${folder}/README.md`, 'utf8'))

/** Runs an example with its subject against the server of this file. */
async function printsWhatItsReadmeShows(t: Test, example: string, subject: string): Promise<void> {
  const [story] = documented(example)
  const commands = story?.commands.trim().replace(/^node/, node)
  const { code, stdout, stderr } = await run(t, `${commands} ${subject} ${url}`, {})
  t.equal(code, 0, stderr)
  t.equal(stdout, story?.output)
}

interface Result {
  readonly tools: readonly { readonly name: string }[]
  readonly structuredContent: Readonly<Record<string, unknown>>
}

async function ask(method: string, params: object, session: string): Promise<Result> {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'causeway-session': session },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return ((await response.json()) as { result: Result }).result
}

verifies('client:example-app', 'it is listed, on the shared mount and on its own', async (t) => {
  const { tools } = await ask('tools/list', {}, 'list')
  const names = tools.map(({ name }) => name)
  t.match(names.slice(-2), ['Hello__greet', 'Hello__list_greeted'])
  const own = await fetch(`${url}/api/apps/hello`)
  t.match(await own.json(), { tools: [{ name: 'greet' }, { name: 'list_greeted' }] })
})

verifies('client:example-app', 'the curl of its README gets the answer of its README', async (t) => {
  const [startsIt, curl] = documented('hello-app')
  t.match(startsIt?.commands, /--user-apps \.\/examples\/hello-app\/app\.ts/)
  const { stdout } = await run(t, curl?.commands.replace('http://localhost:3100', url) ?? '', {})
  t.match(JSON.parse(stdout), curl?.answer as object)
})

verifies('client:example-app', 'it remembers names for all clients, and the last one for each', async (t) => {
  const greet = async (name: string, session: string) =>
    (await ask('tools/call', { name: 'Hello__greet', arguments: { name } }, session)).structuredContent
  t.match(await greet('Grace', 'one'), { times: 1, before: null })
  t.match(await greet('Grace', 'two'), { times: 2, before: null }, 'the store is shared')
  t.match(await greet('Alan', 'one'), { times: 1, before: 'Grace' }, 'the session is not')
})

t.test('replay-story: prints the diagnosis that its README shows', async (t) => {
  await printsWhatItsReadmeShows(t, 'replay-story', 'slide_at_45')
})

t.test('replay-story: an unknown recording is told in the words of the server', async (t) => {
  const { code, stderr } = await run(t, `${node} examples/replay-story/story.mjs nothing ${url}`, {})
  t.equal(code, 1)
  t.match(stderr, /^story: RECORDING_NOT_FOUND: /)
})

t.test('close-quarters: prints what its README shows', async (t) => {
  await printsWhatItsReadmeShows(t, 'close-quarters', 'fixtures/tracks/boats.rep')
})

t.test('refine-sales: prints what its README shows, and leaves the project as it was', async (t) => {
  await printsWhatItsReadmeShows(t, 'refine-sales', 'sales')
  for (const file of ['report.py', 'sales.csv'])
    t.equal(
      readFileSync(`${folder}/projects/sales/${file}`, 'utf8'),
      readFileSync(`${repository}/fixtures/projects/sales/${file}`, 'utf8'),
    )
})
