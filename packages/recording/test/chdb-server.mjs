/**
 * Serves the HTTP interface of ClickHouse with chDB, the library version. The first argument is the path of its
 * module.
 */
import { createServer } from 'node:http'
import { pathToFileURL } from 'node:url'

const { queryBind } = await import(pathToFileURL(process.argv[2] ?? '').href)

const server = createServer(async (request, response) => {
  let sql = ''
  for await (const part of request) sql += part
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost')
  const parameters = Object.fromEntries(
    [...searchParams].flatMap(([name, value]) => (name.startsWith('param_') ? [[name.slice(6), value]] : [])),
  )
  try {
    response.end(queryBind(sql, parameters, searchParams.get('default_format') ?? 'JSON'))
  } catch (error) {
    response.writeHead(500).end(String(error))
  }
})
server.listen(0, '127.0.0.1', () => process.send?.(server.address()?.port))
process.once('disconnect', () => process.exit(0))
