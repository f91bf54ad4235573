import t from 'tap'
import { Agent, request } from 'undici'
import { isComplete } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import { fixture, listed, openHostedCore, serve } from '../hosted/hosted-core.ts'

t.setTimeout(300_000)

const clients = Array.from({ length: 10 }, (_, number) => number)
/** Number of rounds of each client. */
const rounds = isComplete ? 1000 : 100

interface Client {
  readonly number: number
  readonly session: string
}

verifies('gateway:multiplexing', async (t) => {
  const { core } = await openHostedCore(t, {
    shared: fixture([], { concurrency: 64 }),
    own: fixture([], { share: 'client' }),
  })
  await listed(core, 'shared', 'own')
  const url = await serve(t, core)
  const agent = new Agent({ connections: 64 })
  t.teardown(() => agent.close())

  const post = (body: object, session?: string) =>
    request(`${url}/mcp`, {
      method: 'POST',
      dispatcher: agent,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session === undefined ? {} : { 'mcp-session-id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    })

  async function open(number: number): Promise<Client> {
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: { elicitation: {} },
      clientInfo: { name: `client ${number}`, version: '1' },
    }
    const { headers, body } = await post({ id: 1, method: 'initialize', params })
    await body.dump()
    const session = String(headers['mcp-session-id'])
    await (await post({ method: 'notifications/initialized' }, session)).body.dump()
    return { number, session }
  }

  /** Returns the messages of a call; every client uses the same ids and progress tokens. */
  async function call({ session }: Client, id: number, name: string, args: object) {
    const params = { name, arguments: args, _meta: { progressToken: 7 } }
    const { body } = await post({ id, method: 'tools/call', params }, session)
    // biome-ignore lint/suspicious/noExplicitAny: messages of several kinds
    const messages: any[] = []
    let text = ''
    const parse = async (line: string): Promise<void> => {
      const data = line.startsWith('data:') ? line.slice(5).trim() : line.trim()
      if (!data.startsWith('{')) return
      const message = JSON.parse(data)
      messages.push(message)
      if (message.method === 'elicitation/create') {
        const answer = { action: 'accept', content: { answer: `from ${session}` } }
        await (await post({ id: message.id, result: answer }, session)).body.dump()
      }
    }
    for await (const chunk of body.setEncoding('utf8')) {
      const lines = `${text}${chunk}`.split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) await parse(line)
    }
    await parse(text)
    return messages
  }

  const opened = await Promise.all(clients.map(open))
  let wrong = 0
  let calls = 0
  const check = (isRight: boolean): void => {
    calls += 1
    if (!isRight) wrong += 1
  }

  /** Echoes while two clients receive questions and all receive progress. */
  async function work(client: Client): Promise<void> {
    for (let id = 1; id <= rounds; id++) {
      const text = `${client.number}/${id}`
      const [message, ...more] = await call(client, id, 'Shared__echo', { text })
      check(more.length === 0 && message?.id === id && message.result?.content?.[0]?.text === text)
    }
  }

  async function ask(client: Client): Promise<void> {
    for (let id = 5001; id <= 5020; id++) {
      const question = `question ${client.number}/${id}`
      const messages = await call(client, id, 'Own__ask', { question })
      const asked = messages.filter(({ method }) => method === 'elicitation/create')
      const result = messages.at(-1)?.result?.content?.[0]?.text ?? ''
      check(
        asked.length === 1 &&
          asked[0].params.message === question &&
          result.startsWith(question) &&
          result.includes(`from ${client.session}`),
      )
    }
  }

  async function receiveProgress(client: Client): Promise<void> {
    const text = `progress of ${client.number}`
    const messages = await call(client, 9001, 'Shared__wait', { steps: 5, text })
    const progress = messages.filter(({ method }) => method === 'notifications/progress')
    check(
      progress.length === 5 &&
        progress.every(({ params }) => params.progressToken === 7 && params.message === text) &&
        messages.at(-1)?.result?.content?.[0]?.text === text,
    )
  }

  const waits = opened.map(receiveProgress)
  const asks = opened.slice(0, 2).map(ask)
  await Promise.all([...opened.map(work), ...asks])
  // The waits began before the many echoes, which did not wait for them.
  await call(opened[0] as Client, 9002, 'Shared__release', {})
  await Promise.all(waits)
  t.equal(calls, clients.length * rounds + 2 * 20 + clients.length)
  t.equal(wrong, 0)
  t.match(core.hosted.gateway.describe(), [
    { name: 'shared', starts: 1 },
    { name: 'own', instances: { length: 2 } },
  ])
})
