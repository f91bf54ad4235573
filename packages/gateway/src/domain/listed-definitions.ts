import { isObject, type JsonObject, type ToolAnnotations } from '@causeway/protocol'
import { z } from 'zod'
import type { ListedPrompt, ListedResource, ListedTool, ResourceTemplate } from './catalogue.ts'

type Checks = Readonly<Record<string, (value: unknown) => boolean>>

const isText = (value: unknown): value is string => typeof value === 'string'
const isFlag = (value: unknown): boolean => typeof value === 'boolean'
const isListWith =
  (isItem: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.every(isItem)
const accepts = (schema: z.ZodType) => (value: unknown) => schema.safeParse(value).success

const iconSchema = z.object({
  src: z.string(),
  mimeType: z.string().optional(),
  sizes: z.array(z.string()).optional(),
  theme: z.enum(['light', 'dark']).optional(),
})
const commonChecks: Checks = {
  title: isText,
  description: isText,
  icons: isListWith(accepts(iconSchema)),
  annotations: isObject,
  _meta: isObject,
}
const hintChecks: Checks = {
  title: isText,
  readOnlyHint: isFlag,
  destructiveHint: isFlag,
  idempotentHint: isFlag,
  openWorldHint: isFlag,
}
const resourceChecks: Checks = {
  ...commonChecks,
  mimeType: isText,
  size: (value) => typeof value === 'number',
}
const resourceAnnotationChecks: Checks = {
  audience: isListWith((value) => value === 'user' || value === 'assistant'),
  priority: accepts(z.number().min(0).max(1)),
  lastModified: accepts(z.iso.datetime({ offset: true })),
}
const argumentChecks: Checks = { title: isText, description: isText, required: isFlag }

/**
 * Returns a tool that every client accepts, or `undefined` if its input schema does not describe an object. Removes
 * malformed members.
 */
export function normalizeTool(tool: ListedTool): ListedTool | undefined {
  // Clients of Causeway never send tasks of MCP 2025-11-25.
  const { execution: _, ...rest } = tool
  const { outputSchema: listedOutputSchema, annotations, ...validMembers } = selectValid(rest, commonChecks)
  const inputSchema = normalizeSchema({ type: 'object', ...tool.inputSchema })
  if (inputSchema === undefined) return undefined
  const outputSchema =
    isObject(listedOutputSchema) && canCompile(listedOutputSchema)
      ? normalizeSchema(listedOutputSchema)
      : undefined
  return {
    ...validMembers,
    name: tool.name,
    description: isText(validMembers.description) ? validMembers.description : '',
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(isObject(annotations)
      ? { annotations: selectValid(annotations, hintChecks) as ToolAnnotations }
      : {}),
  }
}

export function normalizePrompt(prompt: ListedPrompt): ListedPrompt {
  const args = Array.isArray(prompt.arguments) ? prompt.arguments : []
  const namedArguments = args.filter((property: unknown) => isObject(property) && isText(property.name))
  return {
    ...selectValid(prompt, commonChecks),
    name: prompt.name,
    arguments: namedArguments.map((property) => ({
      ...selectValid({ ...property }, argumentChecks),
      name: property.name,
    })),
  }
}

export const normalizeResource = <T extends ListedResource | ResourceTemplate>(resource: T): T => {
  const { annotations, ...validMembers } = selectValid(resource, resourceChecks)
  return {
    ...validMembers,
    ...(isObject(annotations) ? { annotations: selectValid(annotations, resourceAnnotationChecks) } : {}),
  } as T
}

/** Reads the task support of MCP 2025-11-25. With `required`, the server rejects calls without a task. */
export function getTaskSupport({ execution }: JsonObject): 'optional' | 'required' | undefined {
  const taskSupport = isObject(execution) ? execution.taskSupport : undefined
  return taskSupport === 'optional' || taskSupport === 'required' ? taskSupport : undefined
}

const selectValid = (definition: JsonObject, checks: Checks): JsonObject =>
  Object.fromEntries(
    Object.entries(definition).filter(
      ([name, value]) => !Object.hasOwn(checks, name) || checks[name]?.(value),
    ),
  )

/** Accepts null for empty lists, and replaces boolean schemas, which SDK 1 clients reject. */
function normalizeSchema(schema: JsonObject): ListedTool['inputSchema'] | undefined {
  const { type, properties, required, ...rest } = schema
  const entries = Object.entries(properties ?? {}).map(([name, property]) => [
    name,
    typeof property === 'boolean' ? (property ? {} : { not: {} }) : property,
  ])
  const areObjects = isObject(properties ?? {}) && entries.every(([, property]) => isObject(property))
  if (type !== 'object' || !areObjects) return undefined
  return {
    type,
    ...rest,
    ...(isObject(properties) ? { properties: Object.fromEntries(entries) } : {}),
    ...(isListWith(isText)(required) ? { required: required as string[] } : {}),
  }
}

/** Whether references stay within the schema and patterns are valid: SDK clients compile output schemas. */
function canCompile(schema: JsonObject): boolean {
  try {
    checkSchema(schema, schema)
    return true
  } catch {
    return false
  }
}

function checkSchema(value: unknown, root: JsonObject): void {
  if (typeof value !== 'object' || value === null) return
  const { $ref, pattern } = value as JsonObject
  if (isText($ref)) checkReference($ref, root)
  if (isText(pattern)) RegExp(pattern, 'u')
  for (const member of Object.values(value)) checkSchema(member, root)
}

/** Throws if a JSON Pointer (RFC 6901) has no target. */
function checkReference(reference: string, root: JsonObject): void {
  const [start, ...keys] = reference.split('/')
  let target: unknown = start === '#' ? root : undefined
  for (const key of keys) {
    const name = decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')
    target = (target as JsonObject)[name]
  }
  if (target === undefined) throw new Error(`the reference has no target: ${reference}`)
}
