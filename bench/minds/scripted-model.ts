import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A chat provider for Minds on its own port that returns fixed responses after a delay, without a language model. */
export async function scriptedModel(thinkMs: number): Promise<{ url: string; close(): void }> {
  const answers: Readonly<Record<string, unknown>> = {
    memory_query: { queries: ['bread', 'friends'] },
    cognitive_update: {
      situation_assessment: 'I look around.',
      updated_working_memory: {},
      new_memories: [],
    },
    action_selection: { chosen_action: { action: 'wait', parameters: {} } },
  }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const step = /step=(\w+)/.exec(body)?.[1] ?? ''
    const said = { role: 'assistant', content: JSON.stringify(answers[step]) }
    const completion = { model: 'scripted', choices: [{ message: said, finish_reason: 'stop' }] }
    setTimeout(
      () => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(completion)),
      thinkMs,
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
