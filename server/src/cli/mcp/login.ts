import { GatewayError } from '@causeway/gateway/config'
import { LocalLoginSession, type LoginSession, type RemoteServer, runInteractiveLogin } from '@causeway/oauth'
import { type CommandCall, exitCodes } from '../command.ts'
import { ServerClient } from '../server-client.ts'
import { defineServerCommand, getHostedRoute, ServersFile } from './hosted-servers.ts'
import { findRemote, openLogins } from './logins.ts'

export const loginCommand = defineServerCommand({
  name: 'mcp login',
  about: 'log in at a remote server with OAuth',
  details: `Opens the page of the authorization server in a browser and waits until it returns. If the browser is on another machine, the
page that it cannot open after the login has the code in its URL: paste this URL into the prompt, or pass it with --code while the login
waits. The tokens are stored in auth.json in the data folder.`,
  flags: {
    code: { value: '<url>', about: 'complete the login that was started last: URL of the page, or its code' },
    'no-browser': { about: 'print the URL, and open no browser' },
    'dry-run': { about: 'print the authorization server and the scope, and log in nowhere' },
  },
  exits: { 1: 'there is no such server, or the login failed' },
  examples: ['causeway mcp login github', 'causeway mcp login github --no-browser'],
  async run(call) {
    const { flags, print, note, ask } = call
    const server = requireRemote(call)
    if (flags['dry-run']) {
      const { issuer, scope, registersClient } = await openLogins(call).preview(server)
      print(`would log in at: ${issuer}`)
      print(`scope: ${scope ?? 'chosen by the server'}`)
      print(`client: ${registersClient ? 'would be registered' : 'known'}`)
      return 0
    }
    const session = await openLoginSession(call, server)
    try {
      const [signal, canOpenBrowser] = [call.getInterruptSignal(), !flags['no-browser']]
      if (flags.code !== undefined) await session.submitResponse(flags.code)
      else await runInteractiveLogin(session, { print, note, ask, canOpenBrowser, signal })
    } catch (error) {
      if ((error as Error).name === 'AbortError') return exitCodes.interrupted
      throw error
    } finally {
      await session.close()
    }
    print(`logged in: ${server.name}`)
    return 0
  },
})

export const logoutCommand = defineServerCommand({
  name: 'mcp logout',
  about: 'delete the login at a remote server, and revoke its tokens if the server supports that',
  flags: { 'dry-run': { about: 'print what would be deleted, and delete nothing' } },
  examples: ['causeway mcp logout github'],
  async run(call) {
    const { flags, print, note } = call
    const server = requireRemote(call)
    const { state, issuer } = openLogins(call).describe(server)
    if (state === 'logged_out') print(`not logged in: ${server.name}`)
    else if (flags['dry-run']) {
      print(`would log out: ${server.name} at ${issuer}`)
      note('nothing deleted')
    } else {
      const { revoked } = await logout(call, server)
      print(`logged out: ${server.name}`)
      if (!revoked) note(`${issuer} did not revoke the tokens; they are valid until they expire`)
    }
    return 0
  },
})

function logout(call: CommandCall, server: RemoteServer): Promise<{ readonly revoked: boolean }> {
  const client = ServerClient.findRunning(call)
  if (client === undefined) return openLogins(call).logout(server)
  return client.post(getHostedRoute(server.name, 'logout'), {})
}

function requireRemote(call: CommandCall): RemoteServer {
  const [name = ''] = call.args
  const remote = findRemote(call, new ServersFile(call).require(name))
  if (remote !== undefined) return remote
  throw new GatewayError('LOGIN_UNSUPPORTED', `${name} does not use a login`, { data: { server: name } })
}

/** Receives the login's response on a running server's port, or else on a new port. */
async function openLoginSession(call: CommandCall, server: RemoteServer): Promise<LoginSession> {
  const client = ServerClient.findRunning(call)
  return client === undefined
    ? LocalLoginSession.open(openLogins(call), server)
    : new RunningServerSession(client, server.name)
}

class RunningServerSession implements LoginSession {
  readonly #client: ServerClient
  readonly #route: string

  constructor(client: ServerClient, name: string) {
    this.#client = client
    this.#route = getHostedRoute(name, 'login')
  }

  async begin(): Promise<{ readonly url: URL; readonly state: string }> {
    const { authorization_url, state } = await this.#client.post<{
      authorization_url: string
      state: string
    }>(this.#route, {})
    return { url: new URL(authorization_url), state }
  }

  async wait(state: string, signal: AbortSignal): Promise<void> {
    const path = `${this.#route}?${new URLSearchParams({ state })}`
    for (let isComplete = false; !isComplete; ) {
      signal.throwIfAborted()
      isComplete = (await this.#client.get<{ complete: boolean }>(path, signal)).complete
    }
  }

  async submitResponse(response: string): Promise<void> {
    await this.#client.post(this.#route, { response })
  }

  async close(): Promise<void> {}
}
