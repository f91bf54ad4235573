import { ask, elicitUrl, replyTo, type ToolContext } from '@causeway/app-kit'
import { LoginError, type LoginRequest } from '@causeway/oauth'
import { isObject } from '@causeway/protocol'
import type { UpstreamServer } from '../instances/upstream-server.ts'

/** Maximum time for the browser login after the client accepted it. */
export const maxLoginMs = 5 * 60_000

type LoginTarget = Pick<UpstreamServer, 'config' | 'login' | 'failure' | 'restart'>

/**
 * Runs a request. If the server requires a login, asks a client without a token to log in, then repeats the request.
 */
export async function withLogin(
  server: LoginTarget,
  ctx: ToolContext,
  run: () => Promise<unknown>,
  maxMs = maxLoginMs,
): Promise<unknown> {
  const { login: state } = isObject(ctx.input.kept) ? ctx.input.kept : {}
  if (typeof state === 'string') await waitForLogin(server, state, ctx, maxMs)
  try {
    return await run()
  } catch (error) {
    const isOffered = typeof state !== 'string' && ctx.hasToken !== true
    if (!LoginError.is(error, 'NEEDS_LOGIN') || !isOffered || !ctx.input.can(createPage(server, '')))
      throw error
    const login = await beginLogin(server, ctx)
    if (login === undefined) throw error
    return ask({ login: createPage(server, login.authorizationUrl.href) }, { login: login.state })
  }
}

const createPage = ({ config }: LoginTarget, url: string) =>
  elicitUrl(`${config.name} requires a login. Open the page to log in; the call then continues.`, url)

/** Returns `undefined` if no login can begin. The call's error then names the login command. */
async function beginLogin(server: LoginTarget, { log }: ToolContext): Promise<LoginRequest | undefined> {
  try {
    return await server.login?.begin()
  } catch (err) {
    log.warn({ server: server.config.name, err }, 'a login could not be started')
    return undefined
  }
}

/** Throws `LOGIN_FAILED`, and `NEEDS_LOGIN` if the user declined or did not log in. */
async function waitForLogin(
  server: LoginTarget,
  state: string,
  ctx: ToolContext,
  maxMs: number,
): Promise<void> {
  const { login } = server
  const reply = replyTo(ctx.input, 'login')
  if (login === undefined) return
  if (reply?.kind !== 'elicited' || reply.action !== 'accept') throw login.createNeedsLoginError()
  const timeout = AbortSignal.timeout(maxMs)
  ctx.progress(0, undefined, `waiting for the login at ${server.config.name}`)
  try {
    await login.wait(state, AbortSignal.any([ctx.signal, timeout]))
  } catch (error) {
    if (timeout.aborted) throw login.createNeedsLoginError()
    // The outcome has expired. The repeated request shows whether the login succeeded.
    if (LoginError.is(error, 'LOGIN_UNKNOWN')) return
    throw error
  }
  if (LoginError.is(server.failure?.error, 'NEEDS_LOGIN')) await server.restart()
}
