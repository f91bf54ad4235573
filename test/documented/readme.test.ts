import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { clientRun } from '../client/program.ts'
import { samplePath } from '../downloads/samples.mjs'
import { repository } from '../tree.ts'
import { verifies } from '../verifies.ts'
import { type ShellBlock, shellBlocks } from './blocks.ts'
import { run, start } from './program.ts'

/** The documents whose commands are run, in reading order. */
const documents = [
  'README',
  'docs/tutorial',
  'docs/robot',
  'docs/gallery',
  'docs/tour',
  'docs/clients',
  'docs/configure',
  'docs/install',
].concat('docs/troubleshooting')
const read = (path: string): string => readFileSync(`${repository}/${path}`, 'utf8')
const readme = read('README.md')
const blocks = documents.flatMap((name) =>
  shellBlocks(read(`${name}.md`)).map((block) => ({ ...block, document: name })),
)
const isRun = ({ notRun }: ShellBlock): boolean => notRun === undefined
/** The cache of the fetched engines: commands get another HOME. */
const cache = process.env.CAUSEWAY_CLIENT_CACHE ?? join(homedir(), '.cache/causeway-clients')
/** Runs the programs of the examples with the Node of the tests, and with the fetched engines. */
const withEngines = (commands: string): string =>
  commands.replaceAll(
    /^node (?=examples\/)/gm,
    `CAUSEWAY_CLIENT_CACHE='${cache}' '${process.execPath}' --import '${repository}/test/documented/engine-packages.mjs' `,
  )
const areEnginesFetched = ['cannon', 'planck'].every(
  (name) => samplePath(name as 'cannon' | 'planck', process.env) !== undefined,
)
/** Whether a block needs a fetched engine. */
const needsEngine = ({ commands }: ShellBlock): boolean => /gallery\/(forces|since)/.test(commands)
/** Whether a block starts a server; other commands exit by themselves. */
const startsServer = ({ commands }: ShellBlock): boolean =>
  /^(npm start(?!.* -- [a-z])|npm run server:debug|node scripts\/run\.mjs start)/.test(commands)
/** The last log line of a server that stopped normally. */
const isStopped = /"msg":"stopped"\}\n/
/** The title of a block in test names: the start of its first line. */
const title = ({ commands, document }: ShellBlock & { document: string }): string =>
  `${document}: ${commands.split('\n')[0]?.slice(0, 70)}`

/** Returns environment variables with a temporary home, a data folder in it, and a free port. */
function testEnvironment(t: Test): NodeJS.ProcessEnv {
  const home = t.testdir({ simulations: {}, projects: {} })
  return { HOME: home, CAUSEWAY_DATA_DIR: `${home}/data`, MCP_SERVER_PORT: '0' }
}

const json = { 'content-type': 'application/json' }
const rpc = (method: string, params = {}): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

// Starts before any test, because tap ends a file when the tests registered so far have ended.
const environment = testEnvironment(t)
const first = blocks[0] as ShellBlock
const server = await start(t, first.commands, environment)
const clientEnvironment = {
  ...environment,
  MCP_SERVER_URL: `${server.url}/mcp`,
  CAUSEWAY_URL: server.url,
}
const atServer = (text: string): string => text.replaceAll('http://localhost:3100', server.url)

// The tutorial writes these files into the working directory.
t.teardown(() => {
  for (const name of globSync(['fixed.py', 'plot*.png'], { cwd: repository }))
    rmSync(`${repository}/${name}`, { force: true })
})

t.test('the README has at most 120 lines, and shows a picture before its first command', async (t) => {
  t.ok(readme.trimEnd().split('\n').length <= 120)
  const [, picture = ''] = /!\[.+\]\((.+)\)/.exec(readme) ?? []
  t.ok(existsSync(`${repository}/${picture}`))
  t.ok(readme.indexOf(picture) < readme.indexOf('```sh'))
  for (const part of ['npm start', 'claude mcp add', 'diagnose', '| Replay |'])
    t.ok(readme.includes(part), part)
})

t.test('links of the documents and paths in docs/architecture.md refer to existing files', async (t) => {
  const pages = [
    '*.md',
    'docs/*.md',
    'docs/decisions/*.md',
    'examples/**/*.md',
    '{packages/*,server,bridge}/README.md',
  ]
  const links = globSync(pages, { cwd: repository }).flatMap((page) =>
    [
      ...read(page)
        .replaceAll(/^```[\s\S]*?^```$/gm, '')
        .matchAll(/\]\((?![a-z]+:)([^)#\s]+)/g),
    ].map(([, link = '']) => join(dirname(page), link)),
  )
  const named = [...read('docs/architecture.md').matchAll(/`((?:bridge|packages|server)\/[^`\s]+)`/g)]
  const paths = [...links, ...named.map(([, path = '']) => path)]
  t.ok(paths.length > 200)
  t.same(
    paths.filter((path) => !existsSync(`${repository}/${path}`)),
    [],
  )
})

t.test('docs/README.md lists every page of the documentation', async (t) => {
  const index = read('docs/README.md')
  const pages = globSync('*.md', { cwd: `${repository}/docs` }).filter((page) => page !== 'README.md')
  t.same(
    pages.filter((page) => !index.includes(`](${page})`)),
    [],
  )
})

t.test('the program in the tutorial is that of the example', async (t) => {
  const [, program] = /```python\n([\s\S]*?)```/.exec(read('docs/tutorial.md')) ?? []
  t.equal(program, read('examples/bouncing-ball/bounce.py'))
  t.ok(readme.includes(`${program?.trimEnd().split('\n').length} lines of Python`))
})

t.test('only the known blocks are not run', async (t) => {
  const reasons = blocks.flatMap(({ notRun }) => notRun?.split(':')[0] ?? [])
  t.same(reasons, ['Claude Code', 'the registry', 'Claude Code', 'Claude Code', 'the registry'])
})

verifies(
  'client:readme',
  'the first command of the README starts a server that lists the example recordings',
  async (t) => {
    t.equal(first.commands, 'npm start\n')
    const response = await fetch(`${server.url}/api/apps/replay/tools/list_recordings`, { method: 'POST' })
    t.match(await response.json(), { recordings: [{ recording: 'cone_violation' }] })
  },
)

/** Expects the shown output. `…` stands for any text. */
function expectOutput(t: Test, stdout: string, shown: string): void {
  const parts = shown.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  t.match(stdout, new RegExp(`^${parts.join('[\\s\\S]*')}$`), 'matches the output in the document')
}

for (const block of blocks.filter((block) => isRun(block) && !startsServer(block))) {
  if (needsEngine(block) && !areEnginesFetched) {
    t.test(title(block), { skip: 'engines are not fetched: node test/downloads/samples.mjs' }, async () => {})
    continue
  }
  verifies('client:readme', `runs: ${title(block)}`, async (t) => {
    const { code, stdout, stderr } = await run(t, withEngines(atServer(block.commands)), clientEnvironment)
    t.equal(code, 0, stderr)
    if (block.commands.includes('roots add')) {
      t.ok(stdout.split('\n').includes(`${environment.HOME}/simulations`), 'prints the resulting folders')
      return
    }
    if (block.output !== undefined) {
      expectOutput(t, stdout, block.output)
      return
    }
    const response = JSON.parse(stdout)
    t.notOk(response.error ?? response.code ?? response.result?.isError, 'returns a result, not an error')
    if (block.answer !== undefined) t.match(response, block.answer, 'matches the response in the README')
  })
}

for (const block of blocks.filter((block) => startsServer(block) && block.commands !== first.commands))
  verifies('client:readme', `starts a server: ${title(block)}`, async (t) => {
    const commands = block.commands.replace('--port 3200', '--port 0')
    const other = await start(t, commands, testEnvironment(t))
    const health = await (await fetch(`${other.url}/health`)).json()
    t.match(health, { status: 'ok', apps: { Replay: { status: 'ok' } } })
    if (commands.includes('hello-app')) t.match(health, { apps: { Hello: { status: 'ok' } } })
    t.match(await other.stop(), isStopped)
  })

/** Returns the arguments of `claude` in the first block that is not run and matches the pattern. */
async function claudeArguments(t: Test, pattern: RegExp): Promise<string[]> {
  const block = blocks.find((block) => !isRun(block) && pattern.test(block.commands))
  const { stdout } = await run(t, `claude() { printf '%s\\n' "$@"; }\n${block?.commands}`, {})
  return stdout.trimEnd().split('\n')
}

/** Runs a program as a stdio client does, and expects a list of tools. */
async function expectTools(t: Test, words: readonly string[]): Promise<void> {
  const commands = words.map((word) => `'${word}'`).join(' ')
  const { stdout } = await run(t, commands, clientEnvironment, `${rpc('tools/list')}\n`)
  t.match(JSON.parse(stdout), { result: { tools: [{ name: 'Causeway__get_health' }] } }, commands)
}

/** Commands in the sentences of a document. Those with a placeholder are forms, not commands. */
const inline = ['README.md', 'docs/tutorial.md'].flatMap((page) =>
  [...read(page).matchAll(/(?<!`)`((?:curl|npm start|node|python3)\s[^`<]+)`(?!`)/g)].map(
    ([, command = '']) => command.replaceAll(/\s+/g, ' '),
  ),
)

verifies('client:readme', 'the commands in sentences of README and tutorial work', async (t) => {
  t.equal(inline.length, 5)
  writeFileSync(
    `${environment.HOME}/.claude.json`,
    JSON.stringify({ mcpServers: { files: { command: 'npx', args: ['-y', 'files-server'] } } }),
  )
  for (const command of inline) {
    if (startsServer({ commands: command } as ShellBlock)) {
      t.ok(
        blocks.some((block) => isRun(block) && block.commands === `${command}\n`),
        'is run as a block',
      )
      continue
    }
    const here = atServer(command).replace('--port 3200', `--port ${new URL(server.url).port}`)
    const { code, stderr } = await run(t, here, clientEnvironment)
    t.equal(code, 0, `${command}: ${stderr}`)
  }
})

/** Runs Claude Code, if it is installed, with the arguments of a block that the other tests do not run. */
async function runClaude(t: Test, words: readonly string[]): Promise<void> {
  const claude = clientRun(t, 'claude-code-2.1.330', t.testdir())
  if (claude === undefined) return
  t.match(await claude(...words), { code: 0 }, words.join(' '))
  t.match((await claude('mcp', 'list')).stdout, /^causeway\S*: .* - ✔ Connected$/m)
}

verifies('client:readme', 'Claude Code connects after the commands of README and docs', async (t) => {
  const words = await claudeArguments(t, / -- /)
  const end = words.indexOf('--')
  const address = ['--env', `MCP_SERVER_URL=${server.url}/mcp`]
  await runClaude(t, [...words.slice(0, end), ...address, ...words.slice(end)])
  await runClaude(t, (await claudeArguments(t, /--transport http/)).map(atServer))
})

verifies('client:readme', 'the command after the dashes of claude mcp add lists tools', async (t) => {
  const words = await claudeArguments(t, / -- /)
  await expectTools(t, words.slice(words.indexOf('--') + 1))
})

verifies('client:config-files', async (t) => {
  const files = [
    ['.mcp.json', 'mcpServers'],
    ['.vscode/mcp.json', 'servers'],
  ] as const
  for (const [file, key] of files) {
    const text = readFileSync(`${repository}/${file}`, 'utf8').replaceAll(`$\{workspaceFolder}`, repository)
    const { command, args } = JSON.parse(text)[key].causeway
    t.same(args.slice(1), ['--autostart'])
    await expectTools(t, [command, ...args])
  }
})

verifies(
  'client:readme',
  'the URL of claude mcp add responds, and its header preserves the client state',
  async (t) => {
    const words = await claudeArguments(t, /--transport http/)
    const url = atServer(words.find((word) => word.startsWith('http://')) ?? '')
    const [name = '', value = ''] = words[words.indexOf('--header') + 1]?.split(': ') ?? []
    const call = async (tool: string, args = {}) => {
      const body = rpc('tools/call', { name: `Replay__${tool}`, arguments: args })
      return (await fetch(url, { method: 'POST', headers: { ...json, [name]: value }, body })).json()
    }
    await call('load_recording', { path: 'drop' })
    t.match(await call('get_metadata'), { result: { structuredContent: { recording: 'drop' } } })
  },
)

verifies('client:readme', 'npm start leaves no server running when it is stopped', async (t) => {
  t.match(await server.stop(), isStopped)
  await t.rejects(fetch(`${server.url}/health`), 'refuses connections')
})
