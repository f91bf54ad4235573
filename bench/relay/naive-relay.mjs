/**
 * The baseline for bridges: posts each line of stdin and prints each response, and does nothing else. `node naive-relay.mjs <url>`.
 * JavaScript, because type stripping would count as start time and memory.
 */
import { createInterface } from 'node:readline'
import { Pool } from 'undici'

const url = new URL(process.argv[2])
const pool = new Pool(url.origin, { connections: 64, headersTimeout: 0, bodyTimeout: 0 })
const headers = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}
const underWay = new Set()

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const posted = post(line).catch((error) => {
      const { id = null } = JSON.parse(line)
      print(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32603, message: error.message } }))
    })
    underWay.add(posted)
    posted.finally(() => underWay.delete(posted))
  })
  .on('close', async () => {
    await Promise.all(underWay)
    process.exit()
  })

async function post(line) {
  const answer = await pool.request({ method: 'POST', path: url.pathname, headers, body: line })
  const session = answer.headers['mcp-session-id']
  if (typeof session === 'string') headers['mcp-session-id'] = session
  if (String(answer.headers['content-type']).startsWith('text/event-stream')) await printEvents(answer.body)
  else print(await answer.body.text())
}

async function printEvents(body) {
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

function print(message) {
  if (message !== '') process.stdout.write(`${message}\n`)
}
