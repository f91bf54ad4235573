/** Fastify only: `/list` returns BENCH_BYTES bytes of JSON, `/echo` returns the request body. */
import Fastify from 'fastify'

const filler = { jsonrpc: '2.0', id: 1, result: '' }
const bytes = Number(process.env.BENCH_BYTES)
const list = JSON.stringify({ ...filler, result: 'x'.repeat(bytes - JSON.stringify(filler).length) })

const fastify = Fastify()
fastify.post('/list', async (_request, reply) => reply.type('application/json').send(list))
fastify.post('/echo', async (request) => request.body)
process.on('disconnect', () => process.exit())
process.stderr.write(`${await fastify.listen({ host: '127.0.0.1', port: 0 })}\n`)
