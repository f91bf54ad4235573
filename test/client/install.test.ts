import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { clientProgram, clients, unavailable } from '../downloads/clients.mjs'

const script = fileURLToPath(new URL('../downloads/clients.mjs', import.meta.url))

t.test(
  'clients: a registry that cannot be reached is told apart, and leaves nothing half done',
  async (t) => {
    const cache = t.testdir()
    const env = {
      ...process.env,
      CAUSEWAY_CLIENT_CACHE: cache,
      npm_config_registry: 'http://127.0.0.1:1', // a port of the system, on which nothing listens
      npm_config_fetch_retries: '0',
    }
    const { code, said } = await new Promise<{ code: unknown; said: string }>((resolve) => {
      execFile(process.execPath, [script, 'install'], { env }, (error, _stdout, said) =>
        resolve({ code: error?.code, said }),
      )
    })
    t.equal(code, unavailable)
    for (const { spec } of Object.values(clients)) t.match(said, `could not install ${spec} (tried twice)`)
    t.same(
      readdirSync(cache).filter((name) => !name.startsWith('_')),
      [],
    )
  },
)

t.test('clients: each is found by its exact version only', async (t) => {
  const cache = t.testdir()
  const env = { CAUSEWAY_CLIENT_CACHE: cache }
  const folder = join(cache, 'anthropic-ai-claude-code-2.1.330/node_modules/@anthropic-ai/claude-code')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'cli-wrapper.cjs'), '')
  t.equal(clientProgram('claude-code-2.1.330', env), join(folder, 'cli-wrapper.cjs'))
  t.equal(clientProgram('claude-code-2.1.197', env), undefined)
})
