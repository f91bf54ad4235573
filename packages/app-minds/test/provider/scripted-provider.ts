/**
 * A scripted provider of chat completions over HTTP. Answers are written by the test, or computed from the request so
 * that ids are valid. Its name is `scripted`.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

export interface SeenRequest {
  readonly step: string
  /** Number of earlier requests of this step. */
  readonly nth: number
  readonly headers: IncomingMessage['headers']
  // biome-ignore lint/suspicious/noExplicitAny: a test accesses any field of a body
  readonly body: any
  /** The state in the prompt, which is the first user message. */
  readonly state: string
  readonly at: number
}

/** A text of the model, or a different response. */
export type Reply =
  | string
  | {
      readonly status?: number
      readonly headers?: Readonly<Record<string, string>>
      /** The response body, instead of a completion. */
      readonly raw?: string
      readonly message?: unknown
      readonly finish?: string
      readonly usage?: unknown
      readonly take?: (response: ServerResponse, request: SeenRequest) => void
    }

export type Script = (request: SeenRequest) => Reply

export interface ScriptedProvider {
  readonly url: string
  readonly requests: readonly SeenRequest[]
}

/** Returns a valid answer for each step. The action uses the first entity in the prompt, if there is one. */
export function createValidAnswer(request: SeenRequest): string {
  const id = /^- (\S+) ⟦.*?⟧.*: (\w+)/m.exec(request.state)
  const use =
    id === null
      ? { action: 'wait', parameters: {} }
      : { action: 'interact_with', parameters: { entity_id: id[1], interaction_name: id[2] } }
  const update = {
    situation_assessment: 'I look around.',
    current_goals: ['eat'],
    emotional_state: 'calm',
    updated_working_memory: { current_plan: ['go to what I see'] },
    new_memories: [{ content: `Scripted memory at ${/T:(\d+)/.exec(request.state)?.[1]}`, importance: 4 }],
  }
  const answers: Readonly<Record<string, unknown>> = {
    memory_query: { queries: ['food', 'friends'] },
    cognitive_update: update,
    action_selection: { chosen_action: use },
    reflection: { ...update, chosen_action: use },
  }
  return JSON.stringify(answers[request.step])
}

export async function startScripted(t: Test, script: Script = createValidAnswer): Promise<ScriptedProvider> {
  const requests: SeenRequest[] = []
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    const [system, user] = body.messages as { content: string }[]
    const step = /step=(\w+)/.exec(system?.content ?? '')?.[1] ?? ''
    const nth = requests.filter((earlierRequest) => earlierRequest.step === step).length
    const request = { step, nth, headers: incoming.headers, body, state: user?.content ?? '', at: Date.now() }
    requests.push(request)
    answer(script(request), request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests }
}

function answer(reply: Reply, request: SeenRequest, response: ServerResponse): void {
  const replyFields = typeof reply === 'string' ? { message: { role: 'assistant', content: reply } } : reply
  if (replyFields.take !== undefined) {
    replyFields.take(response, request)
    return
  }
  const { status = 200, headers = {}, finish = 'stop' } = replyFields
  const usage = 'usage' in replyFields ? replyFields.usage : { prompt_tokens: 100, completion_tokens: 20 }
  const completion = {
    id: 'scripted',
    model: 'scripted-model',
    choices: [{ index: 0, message: replyFields.message, finish_reason: finish }],
    ...(usage === undefined ? {} : { usage }),
  }
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(replyFields.raw ?? JSON.stringify(completion))
}
