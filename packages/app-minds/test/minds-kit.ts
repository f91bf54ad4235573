import { randomUUID } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openForTest, type TestApp, type TestClient } from '@causeway/app-kit/testing'
import t, { type Test } from 'tap'
import { WordRelations } from '../src/domain/word-relations.ts'
import app from '../src/index.ts'
import { limitsSchema } from '../src/limits.ts'
import { openEmbedding } from '../src/memory/open-embedding.ts'
import { RelationsFile } from '../src/memory/relations-file.ts'
import { MindsFile } from '../src/store/minds-file.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test accesses any expected field
export type Data = any

export interface OpenMinds {
  readonly app: TestApp
  readonly client: TestClient
  readonly dir: string
  call(tool: string, args?: object): Promise<Data>
  read(uri: string): Promise<Data>
  reopen(): Promise<OpenMinds>
}

export interface KitOptions {
  readonly settings?: Readonly<Record<string, unknown>>
  readonly dir?: string
  readonly now?: () => number
  readonly log?: Parameters<typeof openForTest>[1]['log']
}

/** Word relations shared by every app of a test file, because parsing takes 200 ms. */
const relations = new RelationsFile()
export const { get: getRelations } = RelationsFile.prototype
RelationsFile.prototype.get = () => getRelations.call(relations)

/** A data folder with a trained vector space, shared because training takes half a second. */
const trained: { dir?: string } = {}

async function createTrainedFolder(): Promise<string> {
  if (trained.dir !== undefined) return trained.dir
  const dir = mkdtempSync(join(tmpdir(), 'causeway-minds-'))
  trained.dir = dir
  t.teardown(() => rmSync(dir, { recursive: true }))
  const file = new MindsFile({ dir, now: Date.now, limits: limitsSchema.parse({}), durability: 'normal' })
  const space = openEmbedding({}, file)
  await space.computeVectors(['anything'])
  await space.close()
  file.close()
  return dir
}

export async function createDataFolder(t: Test): Promise<string> {
  const dir = join(t.testdir({}), 'data')
  mkdirSync(dir)
  copyFileSync(join(await createTrainedFolder(), 'minds.db'), join(dir, 'minds.db'))
  return dir
}

export async function openMinds(t: Test, options: KitOptions = {}): Promise<OpenMinds> {
  const dir = options.dir ?? (await createDataFolder(t))
  const { settings = {}, now = Date.now, log } = options
  const opened = await openForTest(app, { dir, settings, now, ...(log === undefined ? {} : { log }) })
  const state = { isOpen: true }
  const close = async () => {
    if (!state.isOpen) return
    state.isOpen = false
    await opened.close()
  }
  t.teardown(close)
  const client = opened.client()
  return {
    app: opened,
    client,
    dir,
    call: (tool, args) => client.call(tool, args),
    async read(uri) {
      const contents = await client.read(uri)
      return JSON.parse('text' in contents ? contents.text : 'null')
    },
    async reopen() {
      await close()
      return openMinds(t, { ...options, dir })
    },
  }
}

/** Creates a mind whose entity has the same id. */
export const makeMind = ({ call }: OpenMinds, mind_id: string, config: object = {}): Promise<Data> =>
  call('create_mind', {
    mind_id,
    config: { entity_id: mind_id, traits: ['curious'], ...config },
    // Each opened app generates the same ids, so the request needs a unique id.
    request_id: randomUUID(),
  })

export const createStove = (position: readonly number[], id = 'stove_2') => ({
  entity_id: id,
  display_name: 'Stove',
  position,
  interactions: {
    eat: { name: 'eat', description: 'Cook and eat', needs_filled: ['hunger'], needs_drained: [] },
  },
})

/** The example observation of the original mind server's documentation, with changes. */
export const observe = (entity_id: string, time: number, change: Data = {}): Data => ({
  entity_id,
  current_simulation_time: time,
  status: {
    position: [12, 7],
    movement_locked: false,
    current_interaction: {},
    controller_state: { state_name: 'idle' },
    ...change.status,
  },
  needs: {
    needs: { hunger: 22, energy: 71, fun: 64, hygiene: 80, social: 40, ...change.needs },
    max_value: 100,
  },
  vision: { visible_entities: change.entities ?? [createStove([13, 7])] },
  conversations: change.conversations ?? [],
})

export const decide = (
  { call }: OpenMinds,
  mind_id: string,
  time: number,
  change: Data = {},
): Promise<Data> =>
  call('decide_action', {
    mind_id,
    observation: observe(mind_id, time, change),
    ...(change.events === undefined ? {} : { events: change.events }),
    ...(change.request_id === undefined ? {} : { request_id: change.request_id }),
    ...(change.explain === undefined ? {} : { explain: change.explain }),
  })

export function parseRelations(text: string): WordRelations {
  const steps = WordRelations.parse(text)
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value
}
