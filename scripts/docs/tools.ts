import type { App, AppTool } from '@causeway/app-kit'
import { type JsonSchema, pathName, wireName } from '@causeway/protocol'
import { codeSpan, table } from './table.ts'

/** Returns the table of apps for README.md. */
export function appTable(apps: readonly App[]): string {
  return table(
    ['app', 'purpose', 'tools', 'own endpoint'],
    apps.map((app) => [
      app.name,
      app.about,
      String(app.tools.filter(({ unlisted }) => unlisted !== true).length),
      codeSpan(`/mcp/${pathName(app.name)}`),
    ]),
  )
}

/** Returns the table of an app's tools for its README. */
export function toolTable(app: App): string {
  return table(
    ['tool', 'arguments', 'description'],
    listedTools(app).map(({ name, inputSchema, about }) => [codeSpan(name), signature(inputSchema), about]),
  )
}

/** Returns the reference of all tools with their arguments and an example call. */
export function toolReference(apps: readonly App[]): string {
  return apps
    .map((app) =>
      [`## ${app.name}`, app.about, ...listedTools(app).map((tool) => toolEntry(app, tool))].join('\n\n'),
    )
    .join('\n\n')
}

const listedTools = ({ tools }: App) =>
  tools.filter(({ unlisted, isCore }) => unlisted !== true || isCore === true)

function toolEntry(app: App, tool: AppTool): string {
  const { name, about, annotations, aliases, inputSchema, example } = tool
  const rows = argumentRows(inputSchema)
  const names = [...new Set([...aliases.bare, ...aliases.full])].map(codeSpan)
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

/** Returns the names of the arguments, such as `frame_id, threshold?`. */
function signature(schema: JsonSchema): string {
  const required = new Set(asList(schema.required))
  return properties(schema)
    .map(([name]) => codeSpan(required.has(name) ? name : `${name}?`))
    .join(', ')
}

function defaultText({ default: value }: JsonSchema): string {
  return value === undefined ? '' : codeSpan(JSON.stringify(value))
}

/** Returns a short form of a JSON Schema: `integer >= 1`, `"a" | "b"`, `string[]`. */
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
