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
  const query: Sql['query'] = async (text, parameters = []) => (await pool.query(text, [...parameters])).rows
  return {
    query,
    async transaction(work) {
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        const result = await work({
          query: async (text, parameters = []) => (await client.query(text, [...parameters])).rows,
        })
        await client.query('COMMIT')
        return result
      } catch (error) {
        await client.query('ROLLBACK')
        throw error
      } finally {
        client.release()
      }
    },
    close: () => pool.end(),
  }
}
