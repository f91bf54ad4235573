import t from 'tap'
import { startServer } from '../e2e/server-process.ts'
import type { Channel } from '../requirement.ts'
import { verifies } from '../verifies.ts'
import { bridgeCommand, clientRun, target } from './program.ts'

t.setTimeout(300_000)
const { server, url } = await startServer(t, { dir: t.testdir(), env: { EXTRA_LOGGING: 'true' } })

/** The arguments that make a server known to Claude Code. */
const add = (channel: Channel, url: string): readonly string[] => [
  ...['mcp', 'add', '-s', 'local'],
  ...target<readonly string[]>(channel, {
    http: ['-t', 'http', 'causeway', `${url}/mcp`],
    bridge: ['causeway', '--', ...bridgeCommand(url)],
  }),
]

/** Versions of both eras: the newer one asks `server/discover` first. */
const versions = [
  { client: 'claude-code-2.1.330', discovers: true },
  { client: 'claude-code-2.1.197', discovers: false },
] as const

for (const { client, discovers } of versions) {
  verifies('client:claude-code', `${client} adds the server and is connected`, async (t, channel) => {
    const claude = clientRun(t, client, t.testdir())
    if (claude === undefined) return
    const before = server.log.all.length
    const added = await claude(...add(channel, url))
    t.equal(added.code, 0, added.stderr)

    // Its exit code is 0 even for a server that fails.
    const listed = await claude('mcp', 'list')
    t.match(listed.stdout, /^causeway: .* - ✔ Connected$/m)
    const methods = new Set(server.log.all.slice(before).map(({ method }) => method))
    t.equal(methods.has('server/discover'), discovers)
    t.equal(methods.has('initialize'), !discovers)
    t.ok(methods.has('tools/list'), 'and it has listed the tools')
  })
}

verifies('client:claude-code', 'a server that is not there is told as such', async (t, channel) => {
  const claude = clientRun(t, 'claude-code-2.1.330', t.testdir())
  if (claude === undefined) return
  const nobody = 'http://127.0.0.1:1' // a port of the system, on which nothing listens
  await claude(...add(channel, nobody))
  t.match((await claude('mcp', 'list')).stdout, /^causeway: .* - ✘ Failed to connect/m)
})
