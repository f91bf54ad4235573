import { isAsk, type ToolContext } from '@causeway/app-kit'
import { AuthFile, CallbackListener, LoginError, Logins, ServerLogin } from '@causeway/oauth'
import type { Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { approve, openProtectedServer, visit } from '../../oauth/test/protected-server.ts'
import { maxLoginMs, withLogin } from '../src/calls/with-login.ts'

async function openLogin(t: Test) {
  const fixture = await openProtectedServer(t)
  const logins = new Logins({
    file: new AuthFile(t.testdir({})),
    now: Date.now,
    formatLoginCommand: ({ name }) => `causeway mcp login ${name}`,
  })
  const listener = await CallbackListener.open(logins)
  t.teardown(() => listener.close())
  const remote = { name: 'docs', url: fixture.mcpUrl, oauth: {} }
  const login = new ServerLogin({ logins, server: remote, redirectUrl: listener.redirectUrl })
  let restarts = 0
  const server = {
    config: { name: 'docs' },
    login,
    failure: { error: login.createNeedsLoginError(), atMs: 0 },
    restart: async () => {
      restarts += 1
    },
  } as unknown as Parameters<typeof withLogin>[0]
  /** Throws `NEEDS_LOGIN` without a token, like a request to a hosted server. */
  const request = async (): Promise<string> => {
    if ((await logins.getToken(remote)) === undefined) throw login.createNeedsLoginError()
    return 'result'
  }
  const messages: string[] = []
  const createContext = (input: object, more: object = {}) =>
    ({
      signal: new AbortController().signal,
      input: { replies: {}, kept: undefined, can: () => true, ...input },
      progress: (_done: number, _total: number | undefined, message: string) => void messages.push(message),
      log: { warn: () => {} },
      ...more,
    }) as unknown as ToolContext
  /** Makes a call that asks for a login. Returns the URL of the login page, and the input of the next run. */
  const begin = async () => {
    const asked = await withLogin(server, createContext({}), request)
    const question = isAsk(asked) ? asked.questions.login : undefined
    if (question === undefined || !isAsk(asked)) throw new Error('no question')
    const { url } = question.params as { readonly url: string }
    return { url, input: { replies: { login: { action: 'accept' } }, kept: asked.kept } }
  }
  return { logins, remote, server, request, messages, createContext, begin, restarts: () => restarts }
}

const needed = { code: 'NEEDS_LOGIN', remedy: 'run causeway mcp login docs' }

verifies(
  'gateway:login:asked',
  'a call fails if a login takes too long, and the login can still complete',
  async (t) => {
    const { server, request, messages, createContext, begin, restarts } = await openLogin(t)
    const { url, input } = await begin()
    await t.rejects(withLogin(server, createContext(input), request, 1), needed)
    t.same(messages, ['waiting for the login at docs'])
    t.equal(restarts(), 0)
    t.match(await visit(url), { status: 200, text: /Logged in/ })
    t.equal(await withLogin(server, createContext({}), request), 'result')
    t.equal(maxLoginMs, 300_000)
  },
)

verifies('gateway:login:asked', 'a call waits for the login and restarts its server once', async (t) => {
  const { server, request, createContext, begin, restarts } = await openLogin(t)
  const { url, input } = await begin()
  const calling = withLogin(server, createContext(input), request)
  t.match(await visit(url), { status: 200 })
  t.equal(await calling, 'result')
  t.equal(restarts(), 1)
})

verifies('gateway:login:asked', 'a call fails if it is cancelled or the login is refused', async (t) => {
  const { server, request, createContext, begin } = await openLogin(t)
  const first = await begin()
  const cancelled = new AbortController()
  const calling = withLogin(server, createContext(first.input, { signal: cancelled.signal }), request)
  cancelled.abort(new Error('the client cancelled'))
  await t.rejects(calling, { message: 'the client cancelled' })

  const second = await begin()
  const refused = withLogin(server, createContext(second.input), request)
  const state = new URL(second.url).searchParams.get('state') ?? ''
  const response = new URL(await approve(second.url))
  response.search = String(new URLSearchParams({ error: 'access_denied', state }))
  await Promise.all([t.rejects(refused, { code: 'LOGIN_FAILED' }), fetch(response)])

  for (const action of ['decline', 'cancel']) {
    const { input } = await begin()
    const context = createContext({ ...input, replies: { login: { action } } })
    await t.rejects(withLogin(server, context, request), needed, action)
  }
})

verifies(
  'gateway:login:asked',
  'a call sends its request if the outcome of the login has expired',
  async (t) => {
    const { logins, remote, server, request, createContext, begin } = await openLogin(t)
    const input = { replies: { login: { action: 'accept' } }, kept: { login: 'unknown' } }
    await t.rejects(withLogin(server, createContext(input), request), needed)
    await visit((await begin()).url)
    t.equal(await withLogin(server, createContext(input), request), 'result')
    await logins.logout(remote)
    t.ok(isAsk(await withLogin(server, createContext({}), request)))
  },
)

verifies('gateway:login:asked', 'a caller with a token is not asked to log in', async (t) => {
  const { server, request, createContext } = await openLogin(t)
  for (const more of [{ hasToken: true }, { hasToken: true, holder: 'ada' }])
    await t.rejects(withLogin(server, createContext({}, more), request), needed)
  const failing = async (): Promise<never> => {
    throw new LoginError('SCOPE_MISSING', 'another error')
  }
  await t.rejects(withLogin(server, createContext({}), failing), { code: 'SCOPE_MISSING' })
})
