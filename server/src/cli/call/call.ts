import { resolve } from 'node:path'
import { openExternally } from '@causeway/oauth'
import { type CallToolResult, CausewayError, errorMetaKey, isObject, pathName } from '@causeway/protocol'
import { describeUnknown } from '../../config/command-line.ts'
import { type CommandCall, createUsageError, defineCommand, exitCodes } from '../command.ts'
import { formatError } from '../format.ts'
import { ProgressLine } from '../progress-line.ts'
import { type AppDescription, type Progress, ServerClient, toError } from '../server-client.ts'
import { saveFiles } from './save-files.ts'
import { parseJson, parseToolArguments, tryParse } from './tool-arguments.ts'

const flags = {
  json: { about: 'print the structured result as JSON' },
  args: { value: '<json>', about: 'a JSON object of arguments; key=value replaces single ones' },
  session: {
    value: '<name>',
    about:
      'a name for the state of these calls, such as the loaded recording; without it, all calls share one',
  },
  out: {
    value: '<path>',
    about: 'folder, or file such as plot.png, for pictures (default: the working directory)',
  },
  open: { about: 'open saved pictures in the default program' },
  'dry-run': { about: 'print the call that would be sent, and send nothing' },
} as const

type CallCommand = CommandCall<typeof flags>

export const callCommand = defineCommand({
  name: 'call',
  about: 'call a tool of the running server',
  forms: ['<app> <tool> [key=value…]', '<App__tool> [key=value…]'],
  details: `Lists of tools: causeway tools <app>. Arguments of a tool: causeway call <app> <tool> --help.

An argument is key=value: frame_id=45, verbose=true, bodies=1,2,3. key=@file is the text of a file, key:=json any JSON value. A word
that begins with { is a JSON object of arguments. Pictures are saved and their paths printed. Ctrl-C cancels the call.`,
  flags,
  settings: ['--data-dir', '--port', '--token-file'],
  exits: { 1: 'the tool reported an error', 3: 'no server is running', 130: 'the call was cancelled' },
  examples: [
    'causeway call replay list_recordings',
    'causeway call replay get_frame recording=slide_at_45 frame_id=45',
    'causeway call causeway list_apps --json | jq .apps[].name',
  ],
  async run(call) {
    const { appName, toolName, words } = splitName(call.args)
    const client = await ServerClient.find(call)
    const app = await describeApp(client, appName, 'call')
    const tool = findTool(app, toolName)
    const args = parseToolArguments(
      words,
      { app: pathName(app.name), tool: tool.name, schema: tool.input_schema, cwd: call.cwd },
      parseJsonArguments(call.flags.args),
    )
    const path = pathName(app.name)
    if (call.flags['dry-run']) {
      call.printJson({ url: `${client.url}/mcp/${path}`, tool: tool.name, arguments: args })
      return 0
    }
    const signal = call.getInterruptSignal()
    const progress = new ProgressLine()
    try {
      const result = await client.callTool({
        path,
        tool: tool.name,
        args,
        session: call.flags.session,
        signal,
        onProgress: (update) => progress.update(formatProgress(update)),
      })
      progress.clear()
      return await report(result, { app, tool: tool.name }, call)
    } catch (error) {
      progress.clear()
      if (signal.aborted) {
        call.note('the call was cancelled')
        return exitCodes.interrupted
      }
      if (!(error instanceof CausewayError)) throw error
      call.note(formatCallHint(formatError(error), app))
      return exitCodes.failure
    }
  },
})

/** Splits `Replay__get_frame`, `replay.get_frame` and `replay/get_frame` like `replay get_frame`. */
function splitName([first = '', secondWord, ...rest]: readonly string[]) {
  const [, appName, toolName] = /^([^_./]+)(?:__|[./])(.+)$/.exec(first) ?? []
  if (appName !== undefined && toolName !== undefined)
    return { appName, toolName, words: secondWord === undefined ? rest : [secondWord, ...rest] }
  if (secondWord === undefined)
    throw new CausewayError('INVALID_ARGUMENTS', `missing the tool of ${first}`, {
      remedy: `see causeway tools ${first}`,
    })
  return { appName: first, toolName: secondWord, words: rest }
}

function parseJsonArguments(text: string | undefined): Readonly<Record<string, unknown>> {
  if (text === undefined) return {}
  const args = parseJson(text, '--args')
  if (isObject(args)) return args
  throw createUsageError('call', `--args must be a JSON object, got ${text}`)
}

async function report(
  result: CallToolResult,
  { app, tool }: { app: AppDescription; tool: string },
  call: CallCommand,
): Promise<number> {
  const { flags, cwd, print, printJson, note } = call
  const { content, structuredContent, isError, _meta } = result
  if (isError) {
    const error = _meta?.[errorMetaKey]
    if (error === undefined) note(content.map((block) => ('text' in block ? block.text : '')).join('\n'))
    else note(formatCallHint(formatError(toError(error)), app))
    return exitCodes.failure
  }
  if (flags.json) printJson(structuredContent ?? content)
  else
    for (const block of content) {
      if (block.type === 'text') print(formatText(block.text))
      if (block.type === 'resource_link') print(`${block.name}: ${block.uri}`)
    }
  const paths = saveFiles(content, { outputPath: resolve(cwd, flags.out ?? '.'), name: tool })
  for (const path of paths) {
    if (flags.json) note(`saved: ${path}`)
    else print(`saved: ${path}`)
    if (flags.open && !(await openExternally(path))) note(`no program can open ${path}`)
  }
  return 0
}

/** Replaces `call get_frame` in a remedy with `run causeway call replay get_frame`. */
const formatCallHint = (text: string, { name, tools }: AppDescription): string =>
  text.replaceAll(/\bcall (\w+)/g, (words, tool) =>
    tools.some((candidate) => candidate.name === tool)
      ? `run causeway call ${pathName(name)} ${tool}`
      : words,
  )

function formatProgress({ progress, total, message }: Progress): string {
  const progressText = total === undefined ? String(progress) : `${Math.round((100 * progress) / total)} %`
  return message === undefined ? progressText : `${progressText}  ${message}`
}

export async function describeApp(
  client: ServerClient,
  name: string,
  command: string,
): Promise<AppDescription> {
  const apps = await client.listApps()
  const paths = apps.map((app) => pathName(app.name))
  if (paths.includes(pathName(name))) return client.describeApp(pathName(name))
  throw createUsageError(command, `${describeUnknown('app', name, paths)}; the apps are ${paths.join(', ')}`)
}

export function findTool({ name: app, tools }: AppDescription, name: string) {
  const match = tools.find((tool) => tool.name === name)
  if (match !== undefined) return match
  const names = tools.map((tool) => tool.name)
  throw new CausewayError('INVALID_ARGUMENTS', describeUnknown(`tool of ${app}`, name, names), {
    remedy: `see causeway tools ${pathName(app)}`,
  })
}

/** Formats a JSON object as indented `name: value` lines, its summary first. */
export function formatText(text: string): string {
  const value = tryParse(text)
  if (!isObject(value)) return text
  const { summary, ...rest } = value
  const lines = formatFields(rest)
  if (typeof summary !== 'string') return lines.join('\n')
  return [summary, ...(lines.length > 0 ? ['', ...lines] : [])].join('\n')
}

const formatFields = (fields: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(fields).flatMap(([name, value]) => formatField(name, value))

function formatField(name: string, value: unknown): readonly string[] {
  if (isFlat(value)) return [`${name}: ${formatFlat(value)}`]
  if (Array.isArray(value)) return [`${name}:`, ...value.flatMap(formatItem)]
  return [`${name}:`, ...formatFields(value as Record<string, unknown>).map((line) => `  ${line}`)]
}

function formatItem(item: unknown): readonly string[] {
  if (isFlat(item) || Array.isArray(item)) return [`  - ${formatFlat(item)}`]
  const lines = formatFields(item as Record<string, unknown>)
  return lines.map((line, index) => `${index === 0 ? '  - ' : '    '}${line}`)
}

const isScalar = (value: unknown): boolean => value === null || typeof value !== 'object'

/** Whether a value needs no escapes in a list; `get_frame {"frame_id":1}` does. */
const isPlain = (value: unknown): boolean => !/["\\\n]/.test(String(value))

const isFlat = (value: unknown): boolean =>
  isScalar(value) ||
  (Array.isArray(value) && value.every((item) => isScalar(item) && isPlain(item))) ||
  (isObject(value) && Object.keys(value).length === 0)

function formatFlat(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : JSON.stringify(value).replaceAll(',', ', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}
