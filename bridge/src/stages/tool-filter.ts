import { asObject, classifyMessage, type Request } from '@causeway/protocol'
import { createFailure } from '../calls/answer.ts'
import { BridgeError } from '../errors.ts'
import type { Settings } from '../settings/settings.ts'
import { parseJson } from '../stdio/json.ts'
import { toLine } from '../stdio/message.ts'
import type { MessageHandlers } from './stage.ts'

/** Removes hidden tools from `tools/list`. Calls to them fail with `TOOL_HIDDEN`. */
export class ToolFilter implements MessageHandlers {
  readonly #next: MessageHandlers
  readonly #onlyPatterns: readonly RegExp[]
  readonly #ignorePatterns: readonly RegExp[]
  readonly #lists = new Set<unknown>()

  /** `ignore` has precedence; an empty `only` includes all tools. */
  constructor(next: MessageHandlers, { only, ignore }: Settings['tools']) {
    this.#next = next
    this.#onlyPatterns = only.map(parseGlob)
    this.#ignorePatterns = ignore.map(parseGlob)
  }

  toServer(line: Buffer): void {
    const messages = [parseJson(line)].flat()
    const admittedMessages = messages.filter((message) => this.#admit(message))
    if (admittedMessages.length === messages.length) this.#next.toServer(line)
    else if (admittedMessages.length > 0) this.#next.toServer(toLine(admittedMessages))
  }

  toClient(json: Buffer): void {
    const value = this.#lists.size === 0 ? undefined : parseJson(json)
    const lists = [value].flat().filter((message) => this.#isList(message))
    for (const { result } of lists as { result?: { tools?: unknown } }[])
      if (Array.isArray(result?.tools))
        result.tools = result.tools.filter(({ name }) => this.#isVisible(String(name)))
    this.#next.toClient(lists.length === 0 ? json : toLine(value as object))
  }

  #isVisible(name: string): boolean {
    const matches = (glob: RegExp): boolean => glob.test(name)
    return (
      (this.#onlyPatterns.length === 0 || this.#onlyPatterns.some(matches)) &&
      !this.#ignorePatterns.some(matches)
    )
  }

  #admit(value: unknown): boolean {
    if (classifyMessage(value) !== 'request') return true
    const { id, method, params } = value as Request
    if (method === 'tools/list') this.#lists.add(id)
    const name = String(params?.name)
    if (method !== 'tools/call' || this.#isVisible(name)) return true
    const error = new BridgeError('TOOL_HIDDEN', `the bridge is configured to hide this tool: ${name}`, {
      data: { tool: name },
    })
    this.#next.toClient(createFailure(id, method, error))
    return false
  }

  #isList(value: unknown): boolean {
    const { id } = asObject(value)
    return classifyMessage(value) === 'response' && this.#lists.delete(id)
  }
}

/** `*` matches any text, `?` one character. */
function parseGlob(glob: string): RegExp {
  const pattern = glob.replace(/[.*+?^${}()|[\]\\]/g, (character) =>
    character === '*' ? '.*' : character === '?' ? '.' : `\\${character}`,
  )
  return new RegExp(`^${pattern}$`, 's')
}
