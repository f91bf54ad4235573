import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { verifies } from '../../../test/verifies.ts'
import { connect, databaseFailure } from '../src/postgres/connect.ts'
import { openPostgresStorage } from '../src/postgres/postgres-storage.ts'

verifies(
  'help:postgres',
  'a server that is not there is told so, without its address or password',
  async (t) => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as AddressInfo
    await new Promise((resolve) => taken.close(resolve))
    const db = await connect(`postgres://somebody:secretword@127.0.0.1:${port}/docs`)
    t.teardown(() => db.close())
    const failure = await openPostgresStorage(db).then(
      () => t.fail('nothing listens there'),
      (error: unknown) => error,
    )
    t.match(failure, { code: 'HELP_DATABASE_UNUSABLE', data: { database_code: 'ECONNREFUSED' } })
    t.notMatch(String((failure as Error).message), /secretword|127\.0\.0\.1/)
  },
)

verifies('help:postgres', 'a server that lacks something says what', async (t) => {
  for (const [code, message] of [
    ['0A000', /extension vector/],
    ['42704', /extension vector/],
    ['28P01', /refuses the user/],
    ['3D000', /no such database/],
    ['57P01', /cannot be reached/],
    ['53300', /no connection left/],
  ] as const)
    t.match(databaseFailure(Object.assign(new Error('as PostgreSQL says it'), { code })), {
      code: 'HELP_DATABASE_UNUSABLE',
      message,
    })
  const mistake = Object.assign(new Error('syntax error'), { code: '42601' })
  t.equal(databaseFailure(mistake), mistake, 'a mistake of ours is no fault of the server')
})
