import type { App, AppTool } from '@causeway/app-kit'
import { type JsonSchema, pathName, wireName } from '@causeway/protocol'
import { codeSpan, table } from './table.ts'

/** The table of apps, for the front page. */
export function appTable(apps: readonly App[]): string {
  return table(
    ['app', 'what it is for', 'tools', 'alone at'],
    apps.map(({ name, about, tools }) => [
      name,
      about,
      String(tools.length),
      codeSpan(`/mcp/${pathName(name)}`),
    ]),
  )
}

/** The table of one app's tools, for its own page. */
export function toolTable({ tools }: App): string {
  return table(
    ['tool', 'arguments', 'what it answers'],
    tools.map(({ name, inputSchema, about }) => [codeSpan(name), signature(inputSchema), about]),
  )
}

/** Every tool of every app with its arguments and an example call. */
export function toolReference(apps: readonly App[]): string {
  return apps
    .map((app) =>
      [`## ${app.name}`, app.about, ...app.tools.map((tool) => toolEntry(app, tool))].join('\n\n'),
    )
    .join('\n\n')
}

function toolEntry(app: App, tool: AppTool): string {
  const { name, about, annotations, aliases, inputSchema, example } = tool
  const rows = argumentRows(inputSchema)
  const names = [...aliases.bare, ...aliases.full].map(codeSpan)
  return [
    `### ${wireName(app.name, name)}`,
    `${about} ${annotations.readOnlyHint ? 'Read-only.' : 'Changes state.'}`,
    ...(names.length === 0 ? [] : [`Also ${names.join(', ')}.`]),
    ...(rows.length === 0 ? [] : [table(['argument', 'type', 'default', 'meaning'], rows)]),
    `Example: ${codeSpan(JSON.stringify(example.args))}`,
  ].join('\n\n')
}

function argumentRows(schema: JsonSchema): string[][] {
  const required = new Set(asList(schema.required))
  return properties(schema).map(([name, property]) => [
    codeSpan(name),
    codeSpan(typeText(property)),
    required.has(name) ? 'required' : defaultText(property),
    String(property.description ?? ''),
  ])
}

/** `frame_id, threshold?`: the names of the arguments, optional ones marked. */
function signature(schema: JsonSchema): string {
  const required = new Set(asList(schema.required))
  return properties(schema)
    .map(([name]) => codeSpan(required.has(name) ? name : `${name}?`))
    .join(', ')
}

function defaultText({ default: value }: JsonSchema): string {
  return value === undefined ? '' : codeSpan(JSON.stringify(value))
}

/** A JSON Schema in a few words: `integer >= 1`, `"a" | "b"`, `string[]`. */
export function typeText(schema: JsonSchema): string {
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  const choices = schema.anyOf ?? schema.oneOf
  if (Array.isArray(choices))
    return [...new Set(choices.map((choice) => typeText(choice as JsonSchema)))].join(' | ')
  if (schema.type === 'array') return `${bracketed(typeText((schema.items ?? {}) as JsonSchema))}[]`
  const type = Array.isArray(schema.type) ? schema.type.join(' | ') : String(schema.type ?? 'any')
  const bounds = [
    schema.minimum === undefined ? '' : ` >= ${schema.minimum}`,
    schema.exclusiveMinimum === undefined ? '' : ` > ${schema.exclusiveMinimum}`,
    schema.maximum === undefined ? '' : ` <= ${schema.maximum}`,
  ]
  return type + bounds.join('')
}

function bracketed(text: string): string {
  return text.includes(' ') ? `(${text})` : text
}

function properties(schema: JsonSchema): [string, JsonSchema][] {
  return Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
}

function asList(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : []
}
