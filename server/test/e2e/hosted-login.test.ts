import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ConfigFile } from '@causeway/gateway/config'
import { AuthFile, CallbackListener, Logins } from '@causeway/oauth'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Test } from 'tap'
import { approve, openProtectedServer, visit } from '../../../packages/oauth/test/protected-server.ts'
import { until } from '../../../test/e2e/condition.ts'
import { getJson, postMcp } from '../../../test/e2e/http.ts'
import { type RunningServer, startServer } from '../../../test/e2e/server-process.ts'
import { inCI } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import { type CommandResult, type RunOptions, runHere } from '../cli/run-here.ts'

const program = fileURLToPath(new URL('../../../packages/gateway/test/fixture-server.ts', import.meta.url))

async function openCommands(t: Test) {
  const fixture = await openProtectedServer(t)
  const dir = t.testdir({ data: {} })
  const data = `${dir}/data`
  const env = { HOME: dir, PATH: process.env.PATH ?? '', CAUSEWAY_DATA_DIR: data }
  const outputs: string[] = []
  const run = async (words: readonly string[], options: RunOptions = {}): Promise<CommandResult> => {
    const result = await runHere(t, ['mcp', ...words], { env, cwd: dir, ...options })
    outputs.push(result.stdout, result.stderr)
    return result
  }
  const mcp = (...words: string[]) => run(words)
  const logIn = async (): Promise<CommandResult> => {
    let visiting: Promise<unknown> = Promise.resolve()
    const result = await run(['login', 'docs'], {
      onOutput: (text) => {
        const url = /^http\S+$/m.exec(text)?.[0]
        if (url !== undefined) visiting = visit(url)
      },
    })
    t.match(await visiting, { status: 200, text: /Logged in/ })
    return result
  }
  return { fixture, data, run, mcp, outputs, logIn }
}

const call = async ({ url }: RunningServer, name: string, args: object = {}, path = '/mcp/docs') =>
  (await postMcp(url, 'tools/call', { name, arguments: args }, { path })).json.result

verifies(
  'gateway:login',
  'commands log in with and without a running server',
  inCI(async (t) => {
    const { fixture, data, run, mcp, outputs, logIn } = await openCommands(t)
    const added = await mcp('add', 'docs', '--url', fixture.mcpUrl)
    t.match(added, {
      code: 0,
      stdout: /added: docs/,
      stderr: /docs requires a login: run causeway mcp login docs/,
    })
    t.match(await mcp('login', 'docs', '--dry-run'), {
      code: 0,
      stdout: `would log in at: ${fixture.issuer}\nscope: read\nclient: would be registered\n`,
    })
    t.match(await mcp('login', 'docs', '--code', 'x'), { code: 1, stderr: /LOGIN_UNKNOWN/ })
    t.match(await mcp('logout', 'docs'), { code: 0, stdout: /^not logged in/ })
    t.match(await mcp('show', 'docs'), { stdout: /login +none/ })

    t.match(await logIn(), { code: 0, stdout: /logged in: docs/ }, 'without a running server')
    t.match(await mcp('list'), { stdout: /^docs +not running +shared +logged in +http/m })
    t.match(await mcp('show', 'docs'), { stdout: /login +logged in at http.*\n +scope +read$/m })
    t.match(await mcp('logout', 'docs', '--dry-run'), { stdout: /^would log out: docs at http/ })
    t.match(await mcp('logout', 'docs'), { code: 0, stdout: 'logged out: docs\n', stderr: '' })

    const running = await startServer(t, { dir: data })
    await until(
      () => mcp('list'),
      ({ stdout }) => /^docs +needs_login +shared +0 tools +http/m.test(stdout),
    )
    t.match(await logIn(), { code: 0, stdout: /logged in: docs/ }, 'through the running server')
    await until(
      () => mcp('list'),
      ({ stdout }) => /^docs +ready +shared +2 tools +logged in/m.test(stdout),
    )
    t.match(await call(running, 'echo', { text: 'x' }), { content: [{ text: 'x' }] })

    t.match(await mcp('logout', 'docs'), { code: 0, stderr: '' })
    t.match(
      (await call(running, 'echo', { text: 'x' })).content[0].text,
      /^NEEDS_LOGIN: .*causeway mcp login docs/,
    )
    let url = ''
    const pasted = await run(['login', 'docs', '--no-browser'], {
      onOutput: (text) => {
        url ||= /^http\S+$/m.exec(text)?.[0] ?? ''
      },
      answer: () => approve(url),
    })
    t.match(pasted, { code: 0, stdout: /logged in: docs/ }, 'with a pasted URL')
    t.match(await call(running, 'echo', { text: 'y' }), { content: [{ text: 'y' }] })

    t.match(await mcp('logout', 'docs'), { code: 0 })
    const waiting = run(['login', 'docs'], {
      onOutput: (text) => {
        url = /^http\S+$/m.exec(text)?.[0] ?? url
      },
    })
    const known = url
    await until(
      async () => url,
      (now) => now !== known,
    )
    const code = new URL(await approve(url)).searchParams.get('code') ?? ''
    t.match(await mcp('login', 'docs', '--code', code), { code: 0 }, 'with the code')
    t.match(await waiting, { code: 0 })
    t.match(await mcp('login', 'docs', '--code', await approve(url)), { code: 1, stderr: /LOGIN_UNKNOWN/ })

    const logged =
      running.server.stdout +
      running.server.stderr +
      JSON.stringify((await getJson(running.url, '/api/hosted')).json)
    for (const secret of fixture.secrets) {
      t.notMatch(logged, secret, 'no token and no code in logs and responses')
      // The prompt shows the code that was pasted.
      if (!secret.startsWith('code')) t.notMatch(outputs.join(''), secret)
    }
    t.equal(statSync(`${data}/auth.json`).mode & 0o777, 0o600)
    const holders = readdirSync(data, { recursive: true, encoding: 'utf8' }).filter((name) => {
      const path = `${data}/${name}`
      if (!statSync(path).isFile()) return false
      const text = readFileSync(path, 'latin1')
      return fixture.secrets.some((secret) => text.includes(secret))
    })
    t.same(holders, ['auth.json'], 'no other file has a token')
  }),
)

verifies('gateway:login:needed', async (t) => {
  const { fixture, data, mcp, logIn } = await openCommands(t)
  const file = new ConfigFile(data)
  file.setServer('docs', { url: fixture.mcpUrl })
  file.setServer('local', { command: process.execPath, args: [program], causeway: { share: 'shared' } })
  file.setServer('static', { url: fixture.mcpUrl, headers: { Authorization: 'Bearer wrong' } })
  const running = await startServer(t, { dir: data })
  await until(
    () => mcp('list'),
    ({ stdout }) =>
      /^docs +needs_login/m.test(stdout) &&
      /^static +needs_login/m.test(stdout) &&
      /^local +ready +shared +[1-9]\d* tools/m.test(stdout),
  )
  const before = fixture.requests.length
  t.ok(before <= 6, 'at most three requests for each server')
  await call(running, 'echo', { text: 'x' })
  await call(running, 'echo', {}, '/mcp/static')
  t.match(await call(running, 'echo', { text: 'x' }, '/mcp/local'), { content: [{ text: 'x' }] })
  t.equal(fixture.requests.length, before, 'the server is not asked again')
  const { servers } = (await getJson(running.url, '/api/hosted')).json
  const errors = Object.fromEntries(
    servers.map((one: { name: string; last_error?: object }) => [one.name, one.last_error]),
  )
  t.match(errors, {
    docs: { code: 'NEEDS_LOGIN', message: 'docs requires a login' },
    static: { code: 'NEEDS_LOGIN', message: 'static rejects the token in its configuration' },
  })
  t.match(await mcp('login', 'static'), { code: 1, stderr: /LOGIN_UNSUPPORTED/ })
  t.match(await mcp('login', 'local'), { code: 1, stderr: /LOGIN_UNSUPPORTED/ })
  t.match(await mcp('login', 'none'), { code: 1, stderr: /SERVER_NOT_FOUND/ })

  t.match(await logIn(), { code: 0 })
  await until(
    () => mcp('list'),
    ({ stdout }) => /^docs +ready +shared +2 tools/m.test(stdout),
  )
  fixture.expireTokens()
  const calls = () => Promise.all(Array.from({ length: 20 }, () => call(running, 'echo', { text: 'x' })))
  for (const result of await calls()) t.match(result, { content: [{ text: 'x' }] })
  t.equal(fixture.refreshes, 1, 'one refresh for 20 concurrent calls')

  fixture.expireTokens()
  fixture.refusesRefresh = true
  for (const result of await calls()) t.match(result.content[0].text, /^NEEDS_LOGIN/)
  t.equal(fixture.refreshes, 2)
  t.match(await mcp('list'), { stdout: /^docs +needs_login +shared +2 tools +http/m })
  const after = fixture.requests.length
  for (let attempt = 0; attempt < 5; attempt++) {
    const { content, isError } = await call(running, 'echo', { text: 'x' })
    t.ok(isError)
    t.match(content[0].text, /^NEEDS_LOGIN: docs requires a login; run causeway mcp login docs/)
    t.match(await call(running, 'echo', { text: 'x' }, '/mcp/local'), { content: [{ text: 'x' }] })
  }
  t.equal(fixture.requests.length, after, 'the server is not asked again')

  fixture.refusesRefresh = false
  t.match(await logIn(), { code: 0 })
  t.match(await call(running, 'echo', { text: 'again' }), { content: [{ text: 'again' }] })
})

const page = /^docs requires a login\. Open the page to log in/

for (const era of ['2025-11-25', '2026-07-28'])
  verifies('gateway:login:asked', `a client of MCP ${era} is asked to log in`, async (t) => {
    const { fixture, data, mcp, logIn } = await openCommands(t)
    new ConfigFile(data).setServer('docs', { url: fixture.mcpUrl })
    const running = await startServer(t, { dir: data })
    await logIn()
    await until(
      () => mcp('list'),
      ({ stdout }) => /^docs +ready +shared +2 tools/m.test(stdout),
    )
    t.match(await mcp('logout', 'docs'), { code: 0 })

    const asked: { message: string; url?: string }[] = []
    let reply: (url: string) => Promise<'accept' | 'decline'> = async () => 'decline'
    const connect = async (elicitation: { form: Record<string, never>; url?: Record<string, never> }) => {
      const client = new Client(
        { name: 'test', version: '1' },
        {
          capabilities: { elicitation },
          ...(era === '2026-07-28' ? { versionNegotiation: { mode: { pin: era } } } : {}),
        },
      )
      client.setRequestHandler('elicitation/create', async ({ params }) => {
        asked.push(params as { message: string; url?: string })
        return { action: await reply((params as { url: string }).url) }
      })
      await client.connect(new StreamableHTTPClientTransport(new URL(`${running.url}/mcp`)))
      t.teardown(() => client.close())
      return client
    }
    const echo = (client: Client) => client.callTool({ name: 'Docs__echo', arguments: { text: 'x' } })
    const read = (client: Client) => client.readResource({ uri: 'causeway-mcp://docs/note:///a' })
    const greet = (client: Client) => client.getPrompt({ name: 'Docs__greet' })
    const error = { isError: true, content: [{ text: /^NEEDS_LOGIN: .*run causeway mcp login docs/ }] }
    const rpcError = { data: { code: 'NEEDS_LOGIN', remedy: 'run causeway mcp login docs' } }
    const withoutPages = await connect({ form: {} })
    t.match(await echo(withoutPages), error, 'a client that cannot open pages')
    t.match(await read(withoutPages).catch((thrown: unknown) => thrown), rpcError)
    t.match(await greet(withoutPages).catch((thrown: unknown) => thrown), rpcError)
    t.same(asked, [])
    const client = await connect({ form: {}, url: {} })
    t.match(await echo(client), error, 'a user who declines')
    t.match(await read(client).catch((thrown: unknown) => thrown), rpcError, 'a resource')
    t.match(await greet(client).catch((thrown: unknown) => thrown), rpcError, 'a prompt')
    t.equal(asked.length, 3)
    for (const one of asked) t.match(one, { message: page, url: new RegExp(`^${fixture.url}/authorize`) })

    // The call waits for the browser, which returns after the client accepted.
    reply = async (url) => {
      setImmediate(() => void visit(url))
      return 'accept'
    }
    const requests = [
      [echo, { content: [{ text: 'x' }] }],
      [read, { contents: [{ uri: 'causeway-mcp://docs/note:///a', text: 'a note' }] }],
      [greet, { messages: [{ content: { text: 'Greet.' } }] }],
    ] as const
    for (const [send, result] of requests) {
      asked.length = 0
      await mcp('logout', 'docs')
      t.match(await send(client), result)
      t.equal(asked.length, 1)
      t.match(await send(client), result)
      t.equal(asked.length, 1, 'a login is requested once')
    }
    for (const secret of fixture.secrets.filter((one) => !one.startsWith('code')))
      t.notMatch(JSON.stringify(asked), secret)
  })

verifies('gateway:login:asked', 'callers with tokens receive the login command', async (t) => {
  const { fixture, data } = await openCommands(t)
  new ConfigFile(data).setServer('docs', { url: fixture.mcpUrl })
  writeFileSync(`${data}/tokens`, 'token-with-a-name-1 ada\ntoken-without-name-1\n', { mode: 0o600 })
  const logins = new Logins({ file: new AuthFile(data), now: Date.now, formatLoginCommand: () => '' })
  const remote = { name: 'docs', url: fixture.mcpUrl, oauth: {} }
  const listener = await CallbackListener.open(logins)
  await visit((await logins.begin(remote, listener.redirectUrl)).authorizationUrl.href)
  await listener.close()
  const running = await startServer(t, { dir: data, env: { CAUSEWAY_TOKEN_FILE: `${data}/tokens` } })
  for (const token of ['token-with-a-name-1', 'token-without-name-1']) {
    const client = new Client(
      { name: 'test', version: '1' },
      { capabilities: { elicitation: { form: {}, url: {} } } },
    )
    client.setRequestHandler('elicitation/create', async () => t.fail('the caller was asked') as never)
    const requestInit = { headers: { authorization: `Bearer ${token}` } }
    await client.connect(new StreamableHTTPClientTransport(new URL(`${running.url}/mcp`), { requestInit }))
    t.teardown(() => client.close())
    await until(
      () => client.listTools(),
      ({ tools }) => tools.some(({ name }) => name === 'Docs__echo'),
    )
    const echo = () => client.callTool({ name: 'Docs__echo', arguments: { text: 'x' } })
    if (token === 'token-with-a-name-1') t.match(await echo(), { content: [{ text: 'x' }] })
    await logins.logout(remote)
    t.match(await echo(), { isError: true, content: [{ text: /^NEEDS_LOGIN: .*causeway mcp login docs/ }] })
  }
})

verifies(
  'gateway:login:scope',
  inCI(async (t) => {
    const { fixture, data, mcp, logIn } = await openCommands(t)
    new ConfigFile(data).setServer('docs', { url: fixture.mcpUrl })
    const running = await startServer(t, { dir: data })
    await logIn()
    await until(
      () => mcp('list'),
      ({ stdout }) => /^docs +ready +shared +2 tools/m.test(stdout),
    )
    t.match((await call(running, 'admin')).content[0].text, /^SCOPE_MISSING: .*causeway mcp login docs/)
    t.match(await call(running, 'echo', { text: 'x' }), { content: [{ text: 'x' }] }, 'other calls work')
    t.match(await mcp('show', 'docs'), { stdout: /required scope +read admin/ })
    await logIn()
    t.match(await call(running, 'admin'), { content: [{ text: 'done' }] })
  }),
)
