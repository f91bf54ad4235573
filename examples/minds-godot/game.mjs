/**
 * A game's client of Minds in one file, as a Godot game speaks: raw HTTP+SSE, bare tool names, the text of the first
 * content as JSON, retries without a key. It lives one short life of a character: create, decide, consolidate, clean up.
 * Usage: node game.mjs [server], by default http://localhost:3000. Node 18 or newer.
 */
const [server = 'http://localhost:3000'] = process.argv.slice(2)
const pending = new Map()
const closing = new AbortController()
let endpoint
let lastId = 0

/** Waits until the server is healthy, as the game does before it connects. */
async function untilHealthy(tries = 20) {
  for (let attempt = 1; ; attempt++) {
    const answer = await fetch(`${server}/health`).catch(() => undefined)
    if (answer?.ok) return
    if (attempt === tries) throw new Error(`no server at ${server}`)
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}

/** Opens the event stream; its first event names the address to post to, the others are answers. */
async function connect() {
  const answer = await fetch(`${server}/sse`, {
    headers: { Accept: 'text/event-stream' },
    signal: closing.signal,
  })
  const opened = deferred()
  read(answer.body, opened.resolve).catch(opened.reject)
  endpoint = new URL(await opened.promise, server)
  await request('initialize', {
    protocolVersion: '2024-11-05',
    capabilities: {},
    clientInfo: { name: 'godot', version: '4.3' },
  })
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' })
}

async function read(body, named) {
  let rest = ''
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const events = (rest + chunk).split(/\r?\n\r?\n/)
    rest = events.pop() ?? ''
    for (const event of events) {
      const name = /^event: ?(.+)$/m.exec(event)?.[1]
      const data = /^data: ?(.+)$/m.exec(event)?.[1]
      if (data === undefined) continue
      if (name === 'endpoint') named(data)
      else settle(JSON.parse(data))
    }
  }
}

function settle(message) {
  const waiting = pending.get(message.id)
  pending.delete(message.id)
  if (message.error !== undefined) waiting?.reject(new Error(message.error.message))
  else waiting?.resolve(message.result)
}

async function post(message) {
  const { status } = await fetch(endpoint, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(message),
  })
  if (status !== 202) throw new Error(`status ${status}`)
}

async function request(method, params) {
  const id = ++lastId
  const answered = deferred()
  pending.set(id, answered)
  await post({ jsonrpc: '2.0', id, method, params })
  return answered.promise
}

/** Calls a tool, up to three times with a growing pause; what cannot be read is `undefined`, as in the game. */
async function call(name, args) {
  for (let attempt = 1; ; attempt++) {
    try {
      const { content } = await request('tools/call', { name, arguments: args })
      return JSON.parse(content[0].text)
    } catch (error) {
      if (attempt === 3) throw error
      await new Promise((resolve) => setTimeout(resolve, 1000 * attempt))
    }
  }
}

async function resource(uri) {
  const { contents } = await request('resources/read', { uri })
  return JSON.parse(contents[0].text)
}

function deferred() {
  const parts = {}
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }))
  return parts
}

const mind_id = 'test_npc_001'

/** What the character perceives at a time of the game, in minutes. */
const observation = (time, needs) => ({
  entity_id: mind_id,
  current_simulation_time: time,
  status: { position: [10, 10], movement_locked: false, current_interaction: {}, controller_state: {} },
  needs: { needs, max_value: 100 },
  vision: {
    visible_entities: [
      {
        entity_id: 'oak_tree_1',
        display_name: 'Oak Tree',
        position: [12, 10],
        interactions: {
          examine: { name: 'examine', description: 'Look at it', needs_filled: ['fun'], needs_drained: [] },
        },
      },
      {
        entity_id: 'campfire_1',
        display_name: 'Campfire',
        position: [10, 11],
        interactions: {
          rest: {
            name: 'rest',
            description: 'Rest by the fire',
            needs_filled: ['energy'],
            needs_drained: [],
          },
        },
      },
    ],
  },
  conversations: [],
})

async function live() {
  await untilHealthy()
  await connect()
  const created = await call('create_mind', {
    mind_id,
    config: {
      entity_id: mind_id,
      traits: ['curious', 'brave'],
      initial_long_term_memories: ['The oak tree is the oldest of the valley.'],
    },
  })
  console.log(`create_mind: ${created.status}`)

  const first = await call('decide_action', {
    mind_id,
    observation: observation(100, { hunger: 50, energy: 75, fun: 60, hygiene: 80 }),
  })
  console.log(`decide_action: ${first.status}, ${first.action.action} (decided by the ${first.decided_by})`)
  const tired = await call('decide_action', {
    mind_id,
    observation: observation(400, { hunger: 60, energy: 12, fun: 60, hygiene: 80 }),
  })
  console.log(`decide_action: ${tired.action.action} ${JSON.stringify(tired.action.parameters)}`)

  const state = await resource(`mind://${mind_id}/state`)
  const { consolidated_count, status } = await call('consolidate_memories', { mind_id })
  console.log(
    `consolidate_memories: ${status}, ${consolidated_count} of ${state.daily_memories_count} memories`,
  )

  const missing = await call('decide_action', { mind_id: 'unknown', observation: observation(401, {}) })
  console.log(`an unknown mind: ${missing.status}, ${missing.error_message}`)

  const removed = await call('cleanup_mind', { mind_id })
  console.log(`cleanup_mind: ${removed.status}`)
}

live()
  .catch((error) => {
    console.error(`game: ${error.cause?.message ?? error.message}`)
    process.exitCode = 1
  })
  .finally(() => closing.abort())
