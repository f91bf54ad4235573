import { importOptional } from '../formats/optional-package.ts'

export interface DuckAppender {
  appendVarchar(value: string): void
  appendBigInt(value: bigint): void
  appendInteger(value: number): void
  appendDouble(value: number): void
  appendNull(): void
  endRow(): void
  closeSync(): void
}

export interface DuckConnection {
  run(sql: string): Promise<unknown>
  runAndReadAll(
    sql: string,
    values?: Readonly<Record<string, string | number>>,
  ): Promise<{ getRowObjectsJson(): readonly Readonly<Record<string, unknown>>[] }>
  createAppender(table: string): Promise<DuckAppender>
}

interface Library {
  readonly DuckDBInstance: {
    create(
      path: string,
      options: Readonly<Record<string, string>>,
    ): Promise<{ connect(): Promise<DuckConnection> }>
  }
}

export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** Opens a database in memory. It can access only the files of the folder and does not load extensions. */
export async function openDuckDb(folder: string): Promise<DuckConnection> {
  const { DuckDBInstance } = await importOptional<Library>('@duckdb/node-api')
  const instance = await DuckDBInstance.create(':memory:', {
    threads: '2',
    memory_limit: '768MB',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  const connection = await instance.connect()
  await connection.run(`SET allowed_directories = [${quoteText(`${folder}/`)}]`)
  await connection.run('SET enable_external_access = false')
  await connection.run('SET lock_configuration = true')
  return connection
}
