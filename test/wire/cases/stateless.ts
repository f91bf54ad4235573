/** `/mcp` for clients of MCP 2026-07-28: every message carries its version, and there are no sessions. */
import { until } from '../../e2e/condition.ts'
import { type Case, type Conversation, type Route, sends } from '../conversation.ts'
import { call, notification, rejected, rpc, stateless } from '../messages.ts'

const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} }
const tasks = { ...capabilities, extensions: { 'io.modelcontextprotocol/tasks': {} } }
const progressToken = { progressToken: 'p' }

const listen = (notifications: object, id: unknown = 'listen') =>
  stateless(rpc('subscriptions/listen', { notifications }, id))

const calls: readonly Case[] = [
  sends('server/discover describes the mount', stateless(rpc('server/discover'))),
  sends('tools/call succeeds', stateless(call('echo', { text: 'hello' }))),
  sends(
    "tools/call on the app's own mount",
    stateless(rpc('tools/call', { name: 'echo', arguments: { text: 'hello' } }), { path: '/mcp/sample' }),
  ),
  sends(
    'tools/call by an alias',
    stateless(rpc('tools/call', { name: 'Old__echo', arguments: { text: 'a' } })),
  ),
  sends('tools/call without arguments', stateless(rpc('tools/call', { name: 'Sample__count' }))),
  sends('tools/call with a text id', stateless(call('echo', { text: 'hello' }, 'call-a'))),
  sends('a picture and a number without a value', stateless(call('picture'))),
  sends('a result of 100,000 characters', stateless(call('echo', { text: 'x', times: 100_000 }))),
  sends('a tool that fails', stateless(call('fail', { how: 'error' }))),
  sends('a tool with a defect', stateless(call('fail', { how: 'defect' }))),
  sends('a tool whose output does not fit its schema', stateless(call('fail', { how: 'output' }))),
  sends('arguments that do not fit', stateless(call('echo', { text: 1, unknown: true }))),
  sends('an unknown tool', stateless(call('ecko'))),
  sends('an app that is not served', stateless(rpc('ping'), { path: '/mcp/absent' })),
  sends(
    'a header parameter',
    stateless(call('in_region', { region: 'north' }), { headers: { 'mcp-param-region': 'north' } }),
    stateless(call('in_region', { region: 'north' }), { headers: { 'mcp-param-region': 'south' } }),
    stateless(call('in_region', { region: 'north' })),
  ),
  sends(
    'client state by Causeway-Session',
    stateless(call('count'), { headers: { 'causeway-session': 'stateless-a' } }),
    stateless(call('count'), { headers: { 'causeway-session': 'stateless-a' } }),
    stateless(call('count'), { headers: { 'causeway-session': 'stateless-b' } }),
  ),
  sends(
    'log messages are sent from the level that the message names',
    stateless(call('log'), { meta: { 'io.modelcontextprotocol/logLevel': 'warning' } }),
    stateless(call('log')),
  ),
]

const methods: readonly Case[] = [
  sends(
    'tools/list in pages',
    stateless(rpc('tools/list')),
    stateless(rpc('tools/list', { cursor: 'not-a-cursor' })),
  ),
  {
    title: 'the second page of tools/list',
    async run(c) {
      const { json } = await c.sendUnrecorded(stateless(rpc('tools/list')))
      await c.send(stateless(rpc('tools/list', { cursor: json.result.nextCursor })))
    },
  },
  sends('tools/list of one app', stateless(rpc('tools/list'), { path: '/mcp/sample' })),
  sends('resources/list', stateless(rpc('resources/list'))),
  sends('resources/templates/list', stateless(rpc('resources/templates/list'))),
  sends(
    'resources/read',
    stateless(rpc('resources/read', { uri: 'sample://notes/a' })),
    stateless(rpc('resources/read', { uri: 'sample://picture' })),
    stateless(rpc('resources/read', { uri: 'sample://notes/absent' })),
    stateless(rpc('resources/read', { uri: 'absent://notes' })),
  ),
  sends('prompts/list', stateless(rpc('prompts/list'))),
  sends(
    'prompts/get',
    stateless(rpc('prompts/get', { name: 'Sample__greet', arguments: { who: 'Ada' } })),
    stateless(rpc('prompts/get', { name: 'Sample__greet', arguments: {} })),
    stateless(rpc('prompts/get', { name: 'Sample__absent' })),
  ),
  sends(
    'completion/complete',
    stateless(
      rpc('completion/complete', {
        ref: { type: 'ref/prompt', name: 'Sample__greet' },
        argument: { name: 'who', value: 'A' },
      }),
    ),
    stateless(
      rpc('completion/complete', {
        ref: { type: 'ref/resource', uri: 'sample://notes/{id}' },
        argument: { name: 'id', value: 'al' },
      }),
    ),
  ),
  sends('ping', stateless(rpc('ping'))),
  sends('logging/setLevel', stateless(rpc('logging/setLevel', { level: 'info' }))),
]

const envelopeErrors: readonly Case[] = [
  sends('an unknown method', stateless(rpc('tools/destroy'))),
  sends('a notification', stateless(notification('notifications/initialized'))),
  sends('params that are not an object', {
    ...stateless(rpc('ping')),
    body: '{"jsonrpc":"2.0","id":1,"method":"ping","params":3}',
    shownBody: '{"jsonrpc":"2.0","id":1,"method":"ping","params":3}',
  }),
  sends('a missing name', stateless(rpc('tools/call', {}))),
  sends('a fractional id', stateless(rpc('ping', {}, 1.5))),
  sends('an id of null', stateless(rpc('ping', {}, null))),
  sends('initialize has no place here', stateless(rpc('initialize', {}))),
  sends(
    'another revision in the header',
    stateless(rpc('ping'), { headers: { 'mcp-protocol-version': '2027-01-01' } }),
  ),
  sends(
    'another revision in the message',
    stateless(rpc('ping'), { meta: { 'io.modelcontextprotocol/protocolVersion': '2027-01-01' } }),
  ),
  sends('another method in the header', stateless(rpc('ping'), { headers: { 'mcp-method': 'tools/list' } })),
  sends(
    'another name in the header',
    stateless(call('echo', { text: 'a' }), { headers: { 'mcp-name': 'Sample__count' } }),
  ),
  {
    title: 'missing headers',
    async run(c) {
      const { headers: { 'mcp-method': _method, ...noMethod } = {}, ...sent } = stateless(rpc('ping'))
      await c.send({ ...sent, headers: noMethod })
      const { 'mcp-protocol-version': _version, ...neither } = noMethod as Record<string, string>
      await c.send({ ...sent, headers: neither })
    },
  },
  sends(
    'a client that accepts JSON only',
    stateless(call('echo', { text: 'a' }), { headers: { accept: 'application/json' } }),
  ),
  sends(
    'a client that accepts neither',
    stateless(call('echo', { text: 'a' }), { headers: { accept: 'text/html' } }),
  ),
  sends(
    'capabilities that are missing',
    stateless(rpc('ping'), { meta: { 'io.modelcontextprotocol/clientCapabilities': undefined } }),
  ),
  {
    title: 'an array of messages',
    run(c) {
      const { body, shownBody, ...sent } = stateless(rpc('ping'))
      return c.send({ ...sent, body: `[${body}]`, shownBody: `[${shownBody}]` })
    },
  },
  sends('a long message', {
    ...stateless(rpc('ping', { padding: 'x'.repeat(40_000) })),
    shownBody: '(ping with 40,000 characters of params)',
  }),
  sends(
    'other HTTP methods',
    { method: 'GET', path: '/mcp' },
    { method: 'DELETE', path: '/mcp' },
    { method: 'PUT', path: '/mcp' },
  ),
]

const streams: readonly Case[] = [
  {
    title: 'progress turns the response into an event stream',
    async run(c) {
      const stream = await c.open(stateless(call('wait', { steps: 2 }), { meta: progressToken }))
      await stream.next()
      await stream.next()
      await c.untilWaiting(1)
      await c.release()
      await stream.end()
    },
  },
  {
    title: 'closing the connection cancels the call',
    async run(c) {
      await c.hangUp(stateless(call('wait', { steps: 0 })), () => c.untilWaiting(1))
      await c.untilWaiting(0)
    },
  },
  {
    title: 'closing the event stream cancels the call',
    async run(c) {
      const stream = await c.open(stateless(call('wait', { steps: 1 }), { meta: progressToken }))
      await stream.next()
      await c.untilWaiting(1)
      stream.close()
      c.note('the client closes the stream')
      await c.untilWaiting(0)
    },
  },
  {
    title: 'notifications/cancelled does not cancel a call of another connection',
    async run(c) {
      const stream = await c.open(stateless(call('wait', { steps: 1 }, 'w'), { meta: progressToken }))
      await stream.next()
      await c.send(stateless(notification('notifications/cancelled', { requestId: 'w' })))
      await c.untilWaiting(1)
      await c.release()
      await stream.end()
    },
  },
  {
    title: 'a subscription receives list_changed',
    async run(c) {
      const stream = await c.open(listen({ toolsListChanged: true }))
      await stream.next()
      await c.toggleExtra()
      await stream.next()
      await c.toggleExtra()
      await stream.next()
    },
  },
  {
    title: 'a subscription receives changes of its resources',
    async run(c) {
      const stream = await c.open(listen({ resourceSubscriptions: ['sample://notes/a'] }))
      await stream.next()
      await c.send(stateless(call('write_note', { text: 'first' }, 2)))
      await stream.next()
    },
  },
  sends('a malformed subscription', listen({ resourceSubscriptions: 'sample://notes/a' })),
]

const accept = (content: object) => ({ action: 'accept', content })

/** Sends the same call with the replies and the state of an earlier response. */
const reply = (message: ReturnType<typeof rpc>, inputResponses: object, requestState?: string) =>
  stateless(
    {
      ...message,
      params: { ...message.params, inputResponses, ...(requestState === undefined ? {} : { requestState }) },
    },
    { capabilities },
  )

const elicitation: readonly Case[] = [
  {
    title: 'a call that asks the user twice',
    async run(c) {
      await c.send(stateless(call('ask_name'), { capabilities }))
      const second = await c.send(reply(call('ask_name', {}, 2), { name: accept({ name: 'Ada' }) }))
      const { requestState } = second.json.result
      await c.send(reply(call('ask_name', {}, 3), { colour: accept({ colour: 'red' }) }, requestState))
    },
  },
  {
    title: 'a requestState of another call is rejected',
    async run(c) {
      const asked = await c.sendUnrecorded(reply(call('ask_name', {}, 2), { name: accept({ name: 'Ada' }) }))
      const { requestState } = asked.json.result
      await c.send(reply(call('ask_model', {}, 3), {}, requestState))
      await c.send({
        ...reply(call('ask_name', {}, 4), {}, `${requestState}x`),
        shownBody: '(the same call with a forged requestState)',
      })
    },
  },
  sends('a user who declines', reply(call('ask_name'), { name: { action: 'decline' } })),
  sends('a client that cannot be asked', stateless(call('ask_name')), stateless(call('ask_model'))),
  sends(
    'a call that asks the model',
    stateless(call('ask_model'), { capabilities }),
    reply(call('ask_model', {}, 2), {
      greeting: { role: 'assistant', model: 'm', content: { type: 'text', text: 'hello' } },
    }),
  ),
  sends(
    'a prompt that asks the user',
    stateless(rpc('prompts/get', { name: 'Sample__interview' }), { capabilities }),
    reply(rpc('prompts/get', { name: 'Sample__interview' }, 2), { topic: accept({ topic: 'bridges' }) }),
  ),
]

/** Creates a task and returns its id. */
async function createTask(c: Conversation, tool: string, args: object = {}): Promise<string> {
  const created = await c.send(stateless(call(tool, args), { capabilities: tasks }))
  await c.untilWaiting(1)
  return created.json.result.taskId
}

const task = (method: string, taskId: string, params: object = {}, id = 2) =>
  stateless(rpc(`tasks/${method}`, { taskId, ...params }, id), { capabilities: tasks })

/** Sends `tasks/get` until the task has a status, and records the last response. */
async function getTask(c: Conversation, taskId: string, status: string): Promise<void> {
  await until(
    () => c.sendUnrecorded(task('get', taskId)),
    ({ json }) => json.result.status === status,
  )
  await c.send(task('get', taskId))
}

const taskCases: readonly Case[] = [
  {
    title: 'a slow call becomes a task and completes',
    async run(c) {
      const id = await createTask(c, 'long_job')
      await c.send(task('get', id))
      await c.release()
      await getTask(c, id, 'completed')
    },
  },
  {
    title: 'a task that fails',
    async run(c) {
      const id = await createTask(c, 'long_job', { fail: true })
      await c.release()
      await getTask(c, id, 'completed')
    },
  },
  {
    title: 'a task that is cancelled',
    async run(c) {
      const id = await createTask(c, 'long_job')
      await c.send(task('cancel', id))
      await c.untilWaiting(0)
      await getTask(c, id, 'cancelled')
      await c.send(task('cancel', id, {}, 3))
    },
  },
  {
    title: 'a task that asks the user',
    async run(c) {
      const id = await createTask(c, 'task_only')
      await c.release()
      await getTask(c, id, 'input_required')
      await c.send(task('update', id, { inputResponses: { absent: accept({}) } }))
      const { json } = await c.sendUnrecorded(task('get', id))
      const [key = ''] = Object.keys(json.result.inputRequests)
      await c.send(task('update', id, { inputResponses: { [key]: accept({ confirm: true }) } }))
      await getTask(c, id, 'completed')
    },
  },
  {
    title: 'a client without tasks waits for the result',
    async run(c) {
      const response = c.open(stateless(call('long_job')))
      await c.untilWaiting(1)
      await c.release()
      await (await response).end()
    },
  },
  sends('a tool that requires tasks', stateless(call('task_only'))),
  sends('an unknown task', task('get', 'absent'), task('cancel', 'absent'), task('update', 'absent')),
  sends('a task method without the capability', stateless(rpc('tasks/get', { taskId: 'absent' }))),
  sends(
    'a task of another header',
    stateless(rpc('tasks/get', { taskId: 'a' }), { capabilities: tasks, headers: { 'mcp-name': 'b' } }),
  ),
]

export const statelessRoute: Route = {
  name: 'stateless',
  cases: [
    ...calls,
    ...methods,
    ...envelopeErrors,
    ...streams,
    ...elicitation,
    ...taskCases,
    ...rejected(stateless(call('echo', { text: 'hello' }))),
  ],
}
