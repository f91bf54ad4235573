import { pathName } from '@causeway/protocol'
import { adviseCommand } from '../../process/welcome.ts'
import { describeApp, findTool } from '../call/call.ts'
import { getProperties, getRequired, listTypes } from '../call/tool-arguments.ts'
import { defineCommand } from '../command.ts'
import { formatTable } from '../format.ts'
import { type AppSummary, ServerClient, type ToolDescription } from '../server-client.ts'

export const toolsCommand = defineCommand({
  name: 'tools',
  about: 'list the apps and tools of the running server, and the arguments of a tool',
  forms: ['[<app>] [<tool>]'],
  flags: {
    json: { about: 'print everything that the server returns, as JSON' },
    schema: { about: 'print the input and output schemas as JSON' },
  },
  settings: ['--data-dir', '--port', '--token-file'],
  exits: { 3: 'no server is running' },
  examples: ['causeway tools', 'causeway tools replay', 'causeway tools replay get_frame --schema'],
  async run(call) {
    const {
      args: [appName, toolName],
      flags,
      env,
      print,
      printJson,
    } = call
    const client = await ServerClient.find(call)
    if (appName === undefined) {
      const apps = await client.listApps()
      if (!flags.json && !flags.schema) {
        print(apps.map(formatApp).join('\n\n'))
        return 0
      }
      const descriptions = await Promise.all(apps.map(({ name }) => client.describeApp(pathName(name))))
      const schemas = descriptions.flatMap(({ name, tools }) =>
        tools.map((tool) => [`${name} ${tool.name}`, toSchemas(tool)]),
      )
      printJson(flags.schema ? Object.fromEntries(schemas) : descriptions)
      return 0
    }
    const app = await describeApp(client, appName, 'tools')
    const tools = toolName === undefined ? app.tools : [findTool(app, toolName)]
    if (flags.schema) printJson(Object.fromEntries(tools.map((tool) => [tool.name, toSchemas(tool)])))
    else if (flags.json) printJson(toolName === undefined ? app : tools[0])
    else print(adviseCommand(tools.map((tool) => formatTool(tool, app.name)).join('\n\n'), env))
    return 0
  },
})

const toSchemas = ({ input_schema, output_schema }: ToolDescription) => ({ input_schema, output_schema })

function formatApp({ name, about, tools }: AppSummary): string {
  const rows = tools.map((tool) => [tool.name, getFirstSentence(tool.about)])
  return [`${pathName(name)}: ${about}`, ...formatTable(rows, '  ')].join('\n')
}

const getFirstSentence = (text: string): string => /^.*?[.](?=\s|$)/s.exec(text)?.[0] ?? text

function formatTool({ name, about, input_schema: schema, example }: ToolDescription, app: string): string {
  const required = new Set(getRequired(schema))
  const rows = Object.entries(getProperties(schema)).map(([key, property]) => {
    const types = listTypes(property, schema).join('|') || 'any'
    return [`${key}=<${types}>${required.has(key) ? '' : ' (optional)'}`, String(property.description ?? '')]
  })
  const isComplete = [...required].every((key) => Object.hasOwn(example, key))
  const lines = [
    name,
    `  ${about}`,
    ...formatTable(rows, '  '),
    ...(isComplete ? [`  example: ${formatExample(app, name, example)}`] : []),
  ]
  return lines.join('\n')
}

function formatExample(app: string, tool: string, args: Readonly<Record<string, unknown>>): string {
  const words = Object.entries(args).map(([key, value]) =>
    typeof value === 'object' ? `${key}:=${quote(JSON.stringify(value))}` : `${key}=${quote(String(value))}`,
  )
  return ['causeway call', pathName(app), tool, ...words].join(' ')
}

const quote = (text: string): string =>
  /^[\w./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
