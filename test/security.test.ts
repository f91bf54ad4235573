import { readFileSync } from 'node:fs'
import { codes } from '@causeway/protocol'
import t from 'tap'
import { settings } from '../server/src/config.ts'
import { requirements } from './requirements.ts'

const text = readFileSync(new URL('../docs/security.md', import.meta.url), 'utf8')

t.test('docs/security.md: every threat names a test that exists', async (t) => {
  const rows = text
    .slice(text.indexOf('## Threats'), text.indexOf('Not held:'))
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (threat|---)/.test(line))
  t.ok(rows.length > 10)
  for (const row of rows) {
    const [, threat = '', , proofs = ''] = row.split('|')
    const ids = [...proofs.matchAll(/`([^`]+)`/g)].map(([, id]) => id as string)
    t.ok(ids.length > 0, threat)
    for (const id of ids) t.ok(Object.hasOwn(requirements, id), `${threat}: ${id}`)
  }
})

t.test('docs/security.md names only settings and error codes that exist', async (t) => {
  const known = new Set<unknown>([...Object.values(settings).map(({ env }) => env), ...Object.keys(codes)])
  for (const [, name = ''] of text.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)) t.ok(known.has(name), name)
})
