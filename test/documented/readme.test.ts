import { existsSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { repository } from '../tree.ts'
import { verifies } from '../verifies.ts'
import { type ShellBlock, shellBlocks } from './blocks.ts'
import { run, start } from './program.ts'

const readme = readFileSync(`${repository}/README.md`, 'utf8')
const blocks = shellBlocks(readme)
const isRun = ({ notRun }: ShellBlock): boolean => notRun === undefined
/** Commands that serve until they are stopped; the others end by themselves. */
const serves = ({ commands }: ShellBlock): boolean =>
  /^(npm start|npm run server:debug|node scripts\/run\.mjs start)(?! -- roots)/.test(commands)
/** What a server logs last when it could end its calls in peace. */
const isStopped = /"msg":"stopped"\}\n/
/** The name of a block in a report: how it begins. */
const title = ({ commands }: ShellBlock): string => commands.split('\n')[0]?.slice(0, 70) ?? ''

/** A user's home with a data folder, and a port of the system's choice instead of the usual ones. */
function surroundings(t: Test): NodeJS.ProcessEnv {
  const home = t.testdir({ simulations: {}, projects: {} })
  return { HOME: home, CAUSEWAY_DATA_DIR: `${home}/data`, MCP_SERVER_PORT: '0' }
}

const json = { 'content-type': 'application/json' }
const rpc = (method: string, params = {}): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

// Before any test: tap ends a file when the tests that it knows so far have ended.
const environment = surroundings(t)
const [first] = blocks as [ShellBlock]
const server = await start(t, first.commands, environment)
const calling = { ...environment, MCP_SERVER_URL: `${server.url}/mcp` }
const atServer = (text: string): string => text.replaceAll('http://localhost:3100', server.url)

t.test('README: the first screen has the start, the clients, one call and the apps', async (t) => {
  const [screen = ''] = readme.split('\n## ')
  t.ok(screen.split('\n').length <= 50, 'it is one screen')
  for (const part of ['npm start', 'claude mcp add', '.mcp.json', '.vscode/mcp.json', 'curl', '| Replay |'])
    t.ok(screen.includes(part), part)
})

t.test('README: its links lead to files of this checkout, and the architecture names some', async (t) => {
  const architecture = readFileSync(`${repository}/docs/architecture.md`, 'utf8')
  const targets = [
    ...readme.matchAll(/\]\((?!https?:)([^)#]+)/g),
    ...architecture.matchAll(/`((?:bridge|packages|server)\/[^`\s]+)`/g),
  ].map((match) => match[1] ?? '')
  t.same(
    targets.filter((target) => !existsSync(`${repository}/${target}`)),
    [],
  )
})

t.test('README: what is not run is checked in another way below', async (t) => {
  const reasons = blocks.flatMap(({ notRun }) => notRun?.split(':')[0] ?? [])
  t.same(reasons, ['Claude Code', 'Claude Code', 'the registry'])
})

verifies(
  'client:readme',
  'its first command starts a server that knows the example recordings',
  async (t) => {
    t.equal(first.commands, 'npm start\n')
    const response = await fetch(`${server.url}/api/apps/replay/tools/list_recordings`, { method: 'POST' })
    t.match(await response.json(), { recordings: [{ recording: 'cone_violation' }] })
  },
)

for (const block of blocks.filter((block) => isRun(block) && !serves(block)))
  verifies('client:readme', `runs: ${title(block)}`, async (t) => {
    const { code, stdout, stderr } = await run(t, atServer(block.commands), calling)
    t.equal(code, 0, stderr)
    if (block.commands.includes('roots add')) {
      t.ok(stdout.endsWith(`\n${environment.HOME}/simulations\n`), 'the folders as they are then')
      return
    }
    const answer = JSON.parse(stdout)
    t.notOk(answer.error ?? answer.code ?? answer.result?.isError, 'an answer, not an error')
    if (block.answer !== undefined) t.match(answer, block.answer, 'the answer that it shows')
  })

for (const block of blocks.filter(serves).slice(1))
  verifies('client:readme', `serves: ${title(block)}`, async (t) => {
    const commands = block.commands.replace('--port 3200', '--port 0')
    const other = await start(t, commands, surroundings(t))
    const health = await (await fetch(`${other.url}/health`)).json()
    t.match(health, { status: 'ok', apps: { Replay: { status: 'ok' } } })
    if (commands.includes('hello-app')) t.match(health, { apps: { Hello: { status: 'ok' } } })
    t.match(await other.stop(), isStopped)
  })

/** The arguments that the shell gives to `claude` in the block that is not run and matches. */
async function claudeArguments(t: Test, what: RegExp): Promise<string[]> {
  const block = blocks.find((block) => !isRun(block) && what.test(block.commands))
  const { stdout } = await run(t, `claude() { printf '%s\\n' "$@"; }\n${block?.commands}`, {})
  return stdout.trimEnd().split('\n')
}

/** Runs a program as a stdio client does, and asks it for its tools. */
async function listsTools(t: Test, words: readonly string[]): Promise<void> {
  const commands = words.map((word) => `'${word}'`).join(' ')
  const { stdout } = await run(t, commands, calling, `${rpc('tools/list')}\n`)
  t.match(JSON.parse(stdout), { result: { tools: [{ name: 'Causeway__get_health' }] } }, commands)
}

verifies('client:readme', 'claude mcp add: the command behind the dashes lists tools', async (t) => {
  const words = await claudeArguments(t, / -- /)
  await listsTools(t, words.slice(words.indexOf('--') + 1))
})

verifies('client:config-files', async (t) => {
  const files = [
    ['.mcp.json', 'mcpServers'],
    ['.vscode/mcp.json', 'servers'],
  ] as const
  for (const [file, key] of files) {
    const text = readFileSync(`${repository}/${file}`, 'utf8').replaceAll(`$\{workspaceFolder}`, repository)
    const { command, args } = JSON.parse(text)[key].causeway
    await listsTools(t, [command, ...args])
  }
})

verifies(
  'client:readme',
  'claude mcp add over HTTP: the URL answers, and the header keeps a state',
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

verifies('client:readme', 'told to stop, npm start leaves nothing behind', async (t) => {
  t.match(await server.stop(), isStopped)
  await t.rejects(fetch(`${server.url}/health`), 'nobody listens')
})
