import { extname, join } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { findBuiltPages, readIfExists } from '../../process/built-pages.ts'

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const securityHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const assetNamePattern = /^[\w-]+\.(css|js|svg)$/

/** Pages and assets contain no data and need no token. */
export function addConsolePages(fastify: FastifyInstance, builtPages?: string): void {
  const findFolder = (): string => builtPages ?? findBuiltPages()
  const config = { isPublic: true }
  for (const url of ['/', ...pagePaths])
    fastify.route({
      method: 'GET',
      url,
      config,
      handler: (request, reply) => sendPage(findFolder(), request, reply),
    })
  fastify.route({
    method: 'GET',
    url: '/assets/:name',
    config,
    handler: async (request, reply) => {
      const { name } = request.params as { name: string }
      const content = assetNamePattern.test(name)
        ? await readIfExists(join(findFolder(), 'assets', name))
        : undefined
      if (content === undefined) throw createNotServedError(request)
      return reply
        .headers({ ...securityHeaders, 'cache-control': 'public, max-age=31536000, immutable' })
        .type(contentTypes[extname(name)] ?? 'application/octet-stream')
        .send(content)
    },
  })
}

const pagePaths = [
  '/apps',
  '/apps/:app',
  '/apps/:app/:tool',
  '/traffic',
  '/traffic/:request',
  '/sessions',
  '/servers',
  '/servers/:server',
  '/status',
  '/logs',
  '/replay',
  '/replay/:recording',
  '/replay/:recording/compare/:other',
  '/debrief',
  '/debrief/plots/:filename',
  '/minds',
  '/minds/:mind',
  '/trm',
  '/trm/:session',
  '/help',
] as const

const notBuiltPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>Causeway</title>
<h1>The console is not built</h1>
<p>The server runs, but the pages of its console are missing. Build them in the checkout, then reload this page:</p>
<pre>npm run build</pre>
<p><code>npm start</code> builds them too. Clients don't need them: MCP is served at <code>/mcp</code>.</p>
</html>
`

const programPathPattern = /^\/(api|mcp|sse|messages|assets)(\/|$)/

export const isUnknownPage = ({ method, url, headers }: FastifyRequest): boolean =>
  method === 'GET' && !programPathPattern.test(url) && headers.accept?.includes('text/html') === true

export async function sendUnknownPage(
  request: FastifyRequest,
  reply: FastifyReply,
  builtPages?: string,
): Promise<unknown> {
  reply.code(404)
  return sendPage(builtPages ?? findBuiltPages(), request, reply)
}

/** Programs get a 404 that names the API paths. */
async function sendPage(folder: string, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  if (!request.headers.accept?.includes('text/html'))
    throw createNotServedError(
      request,
      'open it in a browser, it is a page of the console; programs use /mcp, /health or one of the paths of /openapi.json',
    )
  const html = await readIfExists(join(folder, 'index.html'))
  if (html === undefined) reply.code(503)
  return reply
    .headers({ ...securityHeaders, 'cache-control': 'no-cache' })
    .type('text/html; charset=utf-8')
    .send(html ?? notBuiltPage)
}

const createNotServedError = ({ method, url }: FastifyRequest, remedy?: string): CausewayError =>
  new CausewayError('ROUTE_NOT_FOUND', `nothing is served at ${method} ${url}`, {
    ...(remedy === undefined ? {} : { remedy }),
  })
