// Starts the built bridge in this process. Where it cannot be started, it answers each request with an error that
// says what to do, because a client shows an answer and hides a crash. Plain JavaScript that Node 18 still reads.
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const bundle = new URL('./dist/bridge.js', import.meta.url)
const checkout = fileURLToPath(new URL('..', import.meta.url))
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < 20 || (major === 20 && minor < 18))
  explain(
    `Node ${process.versions.node} is too old for the Causeway bridge`,
    'run it with Node 20.18 or newer',
  )
else if (!existsSync(bundle)) explain('the Causeway bridge is not built', `run \`npm start\` in ${checkout}`)
else await import(bundle.href)

/** Answers every request on standard input with one error; ends with its input. */
function explain(message, remedy) {
  const error = {
    code: -32603,
    message: `${message}; ${remedy}`,
    data: {
      code: 'SERVER_UNREACHABLE',
      message,
      remedy,
      data: { checkout },
      legacy_code: null,
      retryable: true,
    },
  }
  const answer = (id, theError) =>
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: theError })}\n`)
  process.stdout.on('error', () => process.exit(0))
  createInterface({ input: process.stdin }).on('line', (line) => {
    if (line.trim() === '') return
    let messages
    try {
      messages = [].concat(JSON.parse(line))
    } catch {
      answer(null, { code: -32700, message: 'the line is not JSON' })
      return
    }
    for (const request of messages)
      if (request !== null && typeof request === 'object' && 'method' in request && 'id' in request)
        answer(request.id, error)
  })
}
