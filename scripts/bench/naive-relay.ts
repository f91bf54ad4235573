/**
 * The floor that bridges are held against: each line of stdin is posted, each answer is printed, and nothing else is
 * done. `node naive-relay.ts <url>`
 */
import { createInterface } from 'node:readline'
import { type Dispatcher, Pool } from 'undici'

const url = new URL(process.argv[2] ?? '')
const pool = new Pool(url.origin, { connections: 64, headersTimeout: 0, bodyTimeout: 0 })
const headers: Record<string, string> = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}
const underWay = new Set<Promise<void>>()

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const posted = post(line).catch((error: Error) => {
      const id = (JSON.parse(line) as { id?: number }).id ?? null
      print(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32603, message: error.message } }))
    })
    underWay.add(posted)
    posted.finally(() => underWay.delete(posted))
  })
  .on('close', async () => {
    await Promise.all(underWay)
    process.exit()
  })

async function post(line: string): Promise<void> {
  const answer = await pool.request({ method: 'POST', path: url.pathname, headers, body: line })
  const session = answer.headers['mcp-session-id']
  if (typeof session === 'string') headers['mcp-session-id'] = session
  if (String(answer.headers['content-type']).startsWith('text/event-stream')) await printEvents(answer)
  else print(await answer.body.text())
}

async function printEvents({ body }: Dispatcher.ResponseData): Promise<void> {
  let text = ''
  body.setEncoding('utf8')
  for await (const chunk of body) {
    text += chunk
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      print(/^data: (.*)$/m.exec(text.slice(0, end))?.[1] ?? '')
      text = text.slice(end + 2)
    }
  }
}

function print(message: string): void {
  if (message !== '') process.stdout.write(`${message}\n`)
}
