/** A pool of connections to a PostgreSQL server, by the `pg` driver, which is loaded only here. */
import { CausewayError } from '@causeway/protocol'
import type { PostgresDatabase, Sql } from './sql.ts'

/** Connections of one process: one worker asks, another may build. */
const connections = 4

/** Connects on the first statement. Throws `INVALID_SETTING` where the driver is not installed. */
export async function connect(url: string): Promise<PostgresDatabase> {
  const { default: pg } = await import('pg').catch((cause: unknown) => {
    throw new CausewayError('INVALID_SETTING', 'the package pg is not installed', {
      remedy: 'install it (npm i pg), or leave CAUSEWAY_HELP_DATABASE_URL out',
      cause,
    })
  })
  const pool = new pg.Pool({ connectionString: url, max: connections, application_name: 'causeway-help' })
  // A connection that breaks while it is idle is replaced; whoever asks next gets its own error.
  pool.on('error', () => {})
  const query: Sql['query'] = async (text, parameters = []) => {
    try {
      return (await pool.query(text, [...parameters])).rows
    } catch (error) {
      throw databaseFailure(error)
    }
  }
  return {
    query,
    async transaction(work) {
      const client = await pool.connect().catch((error: unknown) => {
        throw databaseFailure(error)
      })
      try {
        await client.query('BEGIN')
        const result = await work({
          query: async (text, parameters = []) => (await client.query(text, [...parameters])).rows,
        })
        await client.query('COMMIT')
        return result
      } catch (error) {
        // A connection that is lost has rolled back already.
        await client.query('ROLLBACK').catch(() => {})
        throw databaseFailure(error)
      } finally {
        client.release()
      }
    },
    close: () => pool.end(),
  }
}

/** What is wrong with a server, by the code of the driver or of PostgreSQL (its manual, appendix A). */
const complaints: readonly (readonly [RegExp, string])[] = [
  [/^E[A-Z]+$|^08|^57P/, 'it cannot be reached'],
  [/^28/, 'it refuses the user'],
  [/^3D/, 'there is no such database'],
  [/^42501$/, 'the user may not do what is needed'],
  [/^53/, 'it has no room or no connection left'],
  [/^0A000$|^58P01$|^42704$/, 'it has no extension vector of version 0.8 or newer'],
]

/** A failure as `HELP_DATABASE_UNUSABLE` where the server is the cause; anything else is a mistake of ours and stays. */
export function databaseFailure(error: unknown): unknown {
  const code = String((error as { readonly code?: unknown } | null)?.code ?? '')
  const complaint = complaints.find(([pattern]) => pattern.test(code))?.[1]
  if (complaint === undefined) return error
  return new CausewayError('HELP_DATABASE_UNUSABLE', `the database of the documentation: ${complaint}`, {
    data: { database_code: code },
    cause: error,
  })
}
