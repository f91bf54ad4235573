import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { openCredentials } from '../src/credentials.ts'
import { noLog } from '../src/debug-log.ts'
import { startBackend } from './backend.ts'
import { startBridge } from './client.ts'

const none = { header: [], headerFile: undefined, tokenFile: undefined }

/** A file that only its user may read. */
function secret(dir: string, name: string, text: string): string {
  const path = join(dir, name)
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

verifies('bridge:credentials', async (t) => {
  const backend = await startBackend(t)
  const dir = t.testdir()
  const headerFile = secret(dir, 'headers', '# ours\nX-Team: physics\r\n\nX-Empty:\n')
  const env = { CAUSEWAY_TOKEN_FILE: secret(dir, 'token', 'first\n') }
  const args = ['--header', 'X-One: a: b', '--header-file', headerFile]
  const bridge = startBridge(t, { url: backend.url, args, env })
  await bridge.call(1, 'ping')
  t.match(backend.got.all[0]?.headers, {
    'x-one': 'a: b',
    'x-team': 'physics',
    'x-empty': '',
    authorization: 'Bearer first',
  })
  renameSync(secret(dir, 'new', 'Bearer second'), env.CAUSEWAY_TOKEN_FILE)
  await bridge.call(2, 'ping')
  t.equal(backend.got.all[1]?.headers.authorization, 'Bearer second', 'the file was read again')
})

verifies('bridge:credentials', 'a token file that others may read is refused, with what to do', async (t) => {
  const path = secret(t.testdir(), 'token', 'hidden-value')
  chmodSync(path, 0o640)
  const bridge = startBridge(t, { args: ['--token-file', path] })
  t.same(await bridge.exited, { code: 2, signal: null })
  t.match(bridge.stderr, /INVALID_SETTING: others on this machine may read --token-file.*; run chmod 600 /)
  t.notMatch(bridge.stderr, 'hidden-value')
})

t.test(
  'openCredentials: a token file that has gone bad leaves the last token in use, and says so',
  async (t) => {
    const path = secret(t.testdir(), 'token', 'good')
    const log: string[] = []
    const fields = openCredentials({ ...none, tokenFile: path }, (text) => log.push(text))
    chmodSync(path, 0o644)
    t.same(fields(), { authorization: 'Bearer good' })
    fields()
    t.equal(log.length, 1, 'said once for one change')
    rmSync(path)
    t.same(fields(), { authorization: 'Bearer good' })
    secret(t.testdirName, 'token', 'better')
    t.same(fields(), { authorization: 'Bearer better' })
  },
)

t.test('openCredentials: what cannot be a header is refused without its value', async (t) => {
  const dir = t.testdir()
  const refused = (sources: object, name: string) => {
    try {
      openCredentials({ ...none, ...sources }, noLog)
      t.fail(`not refused: ${name}`)
    } catch (error) {
      t.match(error, { code: 'INVALID_SETTING' }, name)
      t.notMatch(String(error), 'hidden')
    }
  }
  for (const field of [
    'no colon',
    'Bad Name: hidden',
    'X: a\r\nY: hidden',
    'Content-Length: 1',
    'Mcp-Session-Id: hidden',
  ])
    refused({ header: [field] }, field)
  refused({ tokenFile: join(dir, 'absent') }, 'no file')
  refused({ tokenFile: dir }, 'a folder')
  refused({ tokenFile: secret(dir, 'empty', ' \n') }, 'an empty file')
  refused({ tokenFile: secret(dir, 't', 'x'), header: ['Authorization: hidden'] }, 'two of a kind')
})
