/** Ten clients of the MCP SDK, five of each era, with the same request ids and progress tokens. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import t, { type Test } from 'tap'
import { inCI } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import { fixture, listed, openHostedCore, serve, status } from '../hosted/hosted-core.ts'

t.setTimeout(300_000)

const callsPerClient = 30

interface TestClient {
  readonly name: string
  readonly client: Client
  /** Messages of the questions that the client received. */
  readonly asked: string[]
}

const readText = (result: object): string =>
  (result as { content: { text: string }[] }).content.map(({ text }) => text).join('')

/** Connects a client that answers questions after `answerable` resolves. */
async function connect(
  t: Test,
  url: string,
  { number, answerable }: { number: number; answerable: Promise<void> },
): Promise<TestClient> {
  const isModern = number % 2 === 1
  const name = `client-${number}`
  const client = new Client(
    { name, version: '1' },
    {
      capabilities: { elicitation: { form: {} } },
      ...(isModern ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {}),
    },
  )
  const asked: string[] = []
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    asked.push(params.message)
    await answerable
    return { action: 'accept', content: { answer: `from ${name}` } }
  })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      // Identifies a client without a session.
      requestInit: { headers: isModern ? { 'causeway-session': name } : {} },
    }),
  )
  t.teardown(() => client.close())
  return { name, client, asked }
}

verifies(
  'gateway:clients',
  inCI(async (t) => {
    const { core } = await openHostedCore(t, {
      shared: fixture([], { concurrency: 32 }),
      own: fixture([], { share: 'client' }),
      modern: fixture(['--modern']),
    })
    await listed(core, 'shared', 'own', 'modern')
    const url = await serve(t, core)
    let answer = (): void => {}
    const answerable = new Promise<void>((resolve) => {
      answer = resolve
    })
    const clients = await Promise.all(
      Array.from({ length: 10 }, (_, number) => connect(t, url, { number, answerable })),
    )

    // A legacy and a modern client are asked while all others call.
    const askers = clients.slice(0, 2)
    const questions = askers.flatMap(({ name, client }) =>
      ['Own__ask', 'Modern__ask'].map(async (tool) => {
        const question = `${tool} of ${name}`
        const text = readText(await client.callTool({ name: tool, arguments: { question } }))
        return { question, text, name }
      }),
    )

    const waits = clients.map(async ({ name, client }) => {
      const progress: (string | undefined)[] = []
      const result = await client.callTool(
        { name: 'Shared__wait', arguments: { steps: 3, text: name } },
        { onprogress: ({ message }) => void progress.push(message) },
      )
      return { name, progress, text: readText(result) }
    })

    const wrong: string[] = []
    await Promise.all(
      clients.map(async ({ name, client }) => {
        for (let index = 0; index < callsPerClient; index++) {
          const text = `${name}: ${index}`
          const received = readText(await client.callTool({ name: 'Shared__echo', arguments: { text } }))
          if (received !== text) wrong.push(`${text} received ${received}`)
        }
      }),
    )
    t.same(wrong, [], 'each received its own results')
    t.same(
      clients.map(({ asked }) => asked.length),
      [2, 2, 0, 0, 0, 0, 0, 0, 0, 0],
      'only those that called were asked',
    )

    answer()
    for (const { question, text, name } of await Promise.all(questions)) {
      t.ok(text.startsWith(`${question} `), question)
      t.ok(text.includes(`from ${name}`), 'its own answer')
    }
    for (const { asked, name } of askers) t.ok(asked.every((message) => message.endsWith(` of ${name}`)))
    await clients[0]?.client.callTool({ name: 'Shared__release', arguments: {} })
    for (const { name, progress, text } of await Promise.all(waits)) {
      t.equal(text, name)
      t.ok(progress.length > 0 && progress.every((message) => message === name), 'its own progress')
    }
    t.match(status(core, 'shared'), { starts: 1, instances: { length: 1 } }, 'one process for all')
    t.equal(status(core, 'own')?.instances.length, 2, 'a process for each client that called')
  }),
)
