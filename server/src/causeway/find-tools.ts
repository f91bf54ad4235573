import type { Registrar } from '@causeway/app-kit'
import { isObject, type JsonSchema } from '@causeway/protocol'
import { z } from 'zod'
import { requireTool } from '../dispatch/resolve-call.ts'
import { sharedMount, type ToolEntry, toListedTool } from '../registry/mount.ts'
import type { CausewayStore } from './store.ts'

const maxHits = 5

const maxResultBytes = 4000

const shortLength = 200

const example = { args: { query: 'energy appears from nowhere' } }

const hitShape = {
  name: z.string(),
  description: z.string(),
  read_only: z.boolean(),
  input_schema: z.record(z.string(), z.unknown()).nullable(),
  /** Whether description and schema are the same as in `tools/list`. */
  is_complete: z.boolean(),
}

type Hit = Readonly<z.output<z.ZodObject<typeof hitShape>>>

export function addFindTools(app: Registrar<CausewayStore, object>): void {
  app.tool('find_tools', {
    about:
      'Find tools of all apps by words of the task. Returns the five best with description and input schema. Use it when no listed tool fits; then call_read_tool or call_tool.',
    input: {
      query: z.string().min(1).max(1000).describe('The task in your own words'),
    },
    output: { tools: z.array(z.object(hitShape)), summary: z.string() },
    hints: { readOnly: true },
    unlisted: true,
    isCore: true,
    example,
    run({ query }, { store }) {
      const hits = store.search.find(query, maxHits).map(toHit)
      const tools = shortenHits(hits, maxResultBytes - 300)
      return { tools, summary: summarize(tools) }
    },
  })

  app.tool('describe_tool', {
    about:
      'Return the whole definition of a tool: description, input and output schema, and its effects. Use it when find_tools shortened the definition.',
    input: { name: z.string().describe('Name as find_tools returns it, such as Replay__get_frame') },
    output: {
      name: z.string(),
      app: z.string(),
      description: z.string(),
      input_schema: z.record(z.string(), z.unknown()),
      output_schema: z.record(z.string(), z.unknown()).nullable(),
      annotations: z.record(z.string(), z.unknown()),
      summary: z.string(),
    },
    hints: { readOnly: true },
    unlisted: true,
    isCore: true,
    example: { args: { name: 'Causeway__list_apps' } },
    run({ name }, { store }) {
      const { instance, tool } = requireTool(store.core().registry, name)
      const listedTool = toListedTool(sharedMount, instance.app, tool)
      const { annotations = {} } = listedTool
      return {
        name: listedTool.name,
        app: instance.app.name,
        description: listedTool.description,
        input_schema: listedTool.inputSchema,
        output_schema: listedTool.outputSchema ?? null,
        annotations: { ...annotations },
        summary: `Call ${listedTool.name} by its name, or with ${getCallTool(annotations.readOnlyHint === true)}.`,
      }
    },
  })
}

const getCallTool = (isReadOnly: boolean): string => (isReadOnly ? 'call_read_tool' : 'call_tool')

function toHit({ instance, tool }: ToolEntry): Hit {
  const { name, description, inputSchema, annotations } = toListedTool(sharedMount, instance.app, tool)
  return {
    name,
    description,
    read_only: annotations?.readOnlyHint === true,
    input_schema: inputSchema,
    is_complete: true,
  }
}

function summarize(tools: readonly Hit[]): string {
  if (tools.length === 0) return 'No tool matches; use other words, or list_apps for the names of all tools.'
  const isComplete = tools.every(({ is_complete }) => is_complete)
  const omissionNote = isComplete
    ? ''
    : ' describe_tool returns what was left out where is_complete is false.'
  return `${tools.length} tools, best first. Call them with call_read_tool if read_only is true, else with call_tool.${omissionNote}`
}

/** Shortens hits, beginning with the last, until they fit into `maxBytes` if possible. */
export function shortenHits(hits: readonly Hit[], maxBytes: number): readonly Hit[] {
  const shortenedHits = [...hits]
  for (const shorten of [omitDescriptions, omitSchema])
    for (let index = shortenedHits.length - 1; index >= 0 && countBytes(shortenedHits) > maxBytes; index -= 1)
      shortenedHits[index] = shorten(shortenedHits[index] as Hit)
  return shortenedHits
}

const omitDescriptions = (hit: Hit): Hit => ({
  ...hit,
  input_schema: stripDescriptions(hit.input_schema) as JsonSchema,
  is_complete: false,
})

const omitSchema = (hit: Hit): Hit => ({
  ...hit,
  description: hit.description.slice(0, shortLength),
  input_schema: null,
  is_complete: false,
})

/** Removes descriptions, but not an argument named `description`. */
function stripDescriptions(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(stripDescriptions)
  if (!isObject(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => key !== 'description' || typeof value !== 'string')
      .map(([key, value]) => [key, stripDescriptions(value)]),
  )
}

const countBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))
