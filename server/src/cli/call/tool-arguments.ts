import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  type CausewayError,
  isCausewayError,
  isObject,
  type JsonSchema,
  reviseError,
} from '@causeway/protocol'
import { describeUnknown } from '../../config/command-line.ts'
import { createUsageError } from '../command.ts'

type Arguments = Readonly<Record<string, unknown>>

interface ToolSyntax {
  readonly app: string
  readonly tool: string
  readonly schema: JsonSchema
  readonly cwd: string
}

/**
 * Parses arguments: `frame=45`, `key=@file` (the text of a file), `key:=json` (any JSON value), `{…}` (an object of
 * arguments). A repeated key makes a list. Throws `INVALID_ARGUMENTS`.
 */
export function parseToolArguments(
  words: readonly string[],
  { app, tool, schema, cwd }: ToolSyntax,
  initial: Arguments = {},
): Arguments {
  try {
    return parseWords(words, { tool, schema, cwd }, initial)
  } catch (error) {
    if (!isCausewayError(error)) throw error
    throw reviseError(error, { remedy: `see causeway tools ${app} ${tool}` })
  }
}

function parseWords(
  words: readonly string[],
  { tool, schema, cwd }: Omit<ToolSyntax, 'app'>,
  initial: Arguments,
): Arguments {
  const args: Record<string, unknown> = { ...initial }
  const givenKeys = new Set<string>()
  for (const word of words) {
    if (word.startsWith('{')) {
      const object = parseJson(word, 'the argument')
      for (const key of Object.keys(object as object)) getProperty(schema, key, tool)
      Object.assign(args, object)
      continue
    }
    const [, key = '', operator, text = ''] = /^([^:=]+)(:?=)(.*)$/s.exec(word) ?? []
    if (operator === undefined) throw createNamelessError(word, schema, tool)
    const property = getProperty(schema, key, tool)
    const value =
      operator === ':='
        ? parseJson(text, key)
        : convert(text.startsWith('@') ? readFile(resolve(cwd, text.slice(1)), key) : text, key, {
            schema: property,
            root: schema,
          })
    args[key] = givenKeys.has(key) ? [args[key], value].flat() : value
    givenKeys.add(key)
  }
  for (const key of getRequired(schema)) if (!(key in args)) throw createCallError(`missing ${key}=<value>`)
  return args
}

export const getProperties = ({ properties }: JsonSchema): Readonly<Record<string, JsonSchema>> =>
  (properties ?? {}) as Readonly<Record<string, JsonSchema>>

export const getRequired = ({ required }: JsonSchema): readonly string[] => (required ?? []) as string[]

/** Returns the accepted JSON types, or `[]` for any type. */
export function listTypes(schema: JsonSchema, root: JsonSchema = schema): readonly string[] {
  const { type, anyOf, oneOf, const: constant, enum: values } = schema
  const target = resolveReference(schema, root)
  if (target !== schema) return listTypes(target, root)
  if (type !== undefined) return [type].flat() as string[]
  const alternatives = (anyOf ?? oneOf) as readonly JsonSchema[] | undefined
  if (alternatives !== undefined)
    return [...new Set(alternatives.flatMap((alternative) => listTypes(alternative, root)))]
  const constants = Array.isArray(values) ? values : constant === undefined ? [] : [constant]
  return [...new Set(constants.map((value) => (value === null ? 'null' : typeof value)))]
}

interface SchemaLocation {
  readonly schema: JsonSchema
  readonly root: JsonSchema
}

function convert(text: string, key: string, { schema, root }: SchemaLocation): unknown {
  const types = listTypes(schema, root)
  const accepts = (...names: readonly string[]) => names.some((name) => types.includes(name))
  const trimmed = text.trim()
  if (accepts('number', 'integer') && trimmed !== '' && Number.isFinite(Number(trimmed)))
    return Number(trimmed)
  if (accepts('boolean') && /^(true|false)$/.test(trimmed)) return trimmed === 'true'
  if (accepts('null') && trimmed === 'null') return null
  if (accepts('array')) {
    if (trimmed.startsWith('[')) return parseJson(text, key)
    if (!accepts('string')) return convertItems(trimmed, key, { schema, root })
  }
  if (accepts('object') && trimmed.startsWith('{')) return parseJson(text, key)
  if (accepts('string')) return checkChoice(text, key, resolveReference(schema, root))
  if (types.length === 0) return tryParse(trimmed) ?? text
  throw createCallError(`${key} must be ${types.map(describeType).join(' or ')}, got "${text}"`)
}

function checkChoice(text: string, key: string, { type, enum: choices }: JsonSchema): string {
  if (type !== 'string' || !Array.isArray(choices) || choices.includes(text)) return text
  throw createCallError(`${describeUnknown(key, text, choices)}; use ${choices.join(', ')}`)
}

function convertItems(text: string, key: string, { schema, root }: SchemaLocation): readonly unknown[] {
  const { items } = findArray(schema, root)
  const parts = text === '' ? [] : text.split(',')
  return parts.map((part) => convert(part.trim(), key, { schema: isObject(items) ? items : {}, root }))
}

function findArray(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const target = resolveReference(schema, root)
  const alternatives = (target.anyOf ?? target.oneOf ?? []) as readonly JsonSchema[]
  return alternatives.find((alternative) => listTypes(alternative, root).includes('array')) ?? target
}

function resolveReference(schema: JsonSchema, root: JsonSchema): JsonSchema {
  if (typeof schema.$ref !== 'string') return schema
  const path = schema.$ref.replace(/^#\/?/, '').split('/').filter(Boolean)
  const target = path.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), root)
  return isObject(target) ? target : {}
}

/** Returns the error for a value without a name, such as `bounce` instead of `recording=bounce`. */
function createNamelessError(word: string, schema: JsonSchema, tool: string): CausewayError {
  const required = getRequired(schema)
  const names = required.length > 0 ? required : Object.keys(getProperties(schema))
  const hint =
    names.length === 0
      ? `${tool} takes no arguments`
      : `write ${names.length === 1 ? names[0] : '<argument>'}=${word}${names.length === 1 ? '' : ` with one of ${names.join(', ')}`}`
  return createCallError(`"${word}" is not of the form key=value; ${hint}`)
}

function getProperty(schema: JsonSchema, key: string, tool: string): JsonSchema {
  const properties = getProperties(schema)
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined
  if (property !== undefined) return property
  if (schema.additionalProperties !== false) return {}
  const names = Object.keys(properties)
  const hint = names.length === 0 ? `${tool} takes no arguments` : `use ${names.join(', ')}`
  throw createCallError(`${describeUnknown('argument', key, names)}; ${hint}`)
}

const typeNames: Readonly<Record<string, string>> = {
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a JSON object',
}

const describeType = (type: string): string => typeNames[type] ?? type

export function parseJson(text: string, key: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw createCallError(`${key} is not valid JSON: ${(error as Error).message}`)
  }
}

export function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function readFile(path: string, key: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw createCallError(`${key}: cannot read ${path} (${(error as NodeJS.ErrnoException).code})`)
  }
}

const createCallError = (message: string) => createUsageError('call', message)
