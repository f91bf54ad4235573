import { CausewayError } from '@causeway/protocol'
import type { ClientBase } from 'pg'
import { HelpError } from '../../errors.ts'
import type { Edition } from '../types.ts'
import type { PostgresDatabase, Sql } from './sql.ts'

export const internalSchema = 'help_internal'

const maxConnections = 4

/** The pool connects on first use. Throws `INVALID_SETTING` if the `pg` driver is not installed. */
export async function connect(url: string, edition: Edition = 'public'): Promise<PostgresDatabase> {
  const { default: pg } = await import('pg').catch((cause: unknown) => {
    throw new CausewayError('INVALID_SETTING', 'the package pg is not installed', {
      remedy: 'install it (npm i pg), or leave CAUSEWAY_HELP_DATABASE_URL out',
      cause,
    })
  })
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    application_name: 'causeway-help',
    // The pool awaits this promise, despite its declared type.
    onConnect: (client) => prepareConnection(client, edition),
  })
  // The next statement reports its own error.
  pool.on('error', () => {})
  const query: Sql['query'] = async (text, parameters = []) => {
    try {
      return (await pool.query(text, [...parameters])).rows
    } catch (error) {
      throw toDatabaseError(error)
    }
  }
  return {
    query,
    async transaction(work) {
      const client = await pool.connect().catch((error: unknown) => {
        throw toDatabaseError(error)
      })
      try {
        await client.query('BEGIN')
        const result = await work({
          query: async (text, parameters = []) => (await client.query(text, [...parameters])).rows,
        })
        await client.query('COMMIT')
        return result
      } catch (error) {
        // If the connection was lost, the server has already rolled back.
        await client.query('ROLLBACK').catch(() => {})
        throw toDatabaseError(error)
      } finally {
        client.release()
      }
    },
    close: () => pool.end(),
  }
}

async function prepareConnection(client: Pick<ClientBase, 'query'>, edition: Edition): Promise<void> {
  // Compiling a ranking statement would take longer than running it.
  await client.query('SET jit = off')
  if (edition === 'internal') await client.query(`SET search_path = ${internalSchema}, public`)
}

/** Problems by error code of the driver or of PostgreSQL (manual, appendix A). */
const problemsByCode: readonly (readonly [RegExp, string])[] = [
  [/^E[A-Z]+$|^08|^57P/, 'it cannot be reached'],
  [/^28/, 'it rejected the user'],
  [/^3D/, 'the database does not exist'],
  [/^42501$/, 'the user lacks permissions'],
  [/^53/, 'it has no free space or connections'],
  [/^0A000$|^58P01$|^42704$/, 'the extension vector 0.8 or newer is missing'],
]

/** Returns other errors unchanged. */
export function toDatabaseError(error: unknown): unknown {
  const code = String((error as { readonly code?: unknown } | null)?.code ?? '')
  const problem = problemsByCode.find(([pattern]) => pattern.test(code))?.[1]
  if (problem === undefined) return error
  return new HelpError('HELP_DATABASE_UNUSABLE', `the database of the documentation: ${problem}`, {
    data: { database_code: code },
    cause: error,
  })
}
