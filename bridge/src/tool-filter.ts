import { CausewayError, isId, kindOf } from '@causeway/protocol'
import { failedCall } from './answer.ts'
import { globTest } from './glob.ts'
import { parsed } from './parsed.ts'
import type { Stage } from './stage.ts'
import { ifTooDeep, refuseDeep } from './too-deep.ts'

/** Which tools a client may see, by globs; `ignore` wins, and an empty `only` is all. */
export interface ToolGlobs {
  readonly only: readonly string[]
  readonly ignore: readonly string[]
}

/** Hides tools: they are left out of `tools/list`, and a call of one fails with `TOOL_HIDDEN` without being sent. */
export function toolFilter({ only, ignore }: ToolGlobs): Stage {
  const [shown, hidden] = [only.map(globTest), ignore.map(globTest)]
  const isShown = (name: string): boolean =>
    (shown.length === 0 || shown.some((matches) => matches(name))) && !hidden.some((matches) => matches(name))
  const lists = new Set<string>()

  return ({ toServer, toClient }) => {
    /** True for a request that may go on. */
    const admit = (value: unknown): boolean => {
      if (kindOf(value) !== 'request') return true
      const { id, method, params } = value as {
        id: string | number
        method: string
        params?: { name?: unknown }
      }
      if (method === 'tools/list') lists.add(JSON.stringify(id))
      const name = String(params?.name)
      if (method !== 'tools/call' || isShown(name)) return true
      const error = new CausewayError('TOOL_HIDDEN', `the bridge was told to hide this tool: ${name}`, {
        data: { tool: name },
      })
      toClient(failedCall(id, method, error))
      return false
    }

    /** One by one where the batch cannot be written, so that only the element at fault is refused. */
    const passOn = (admitted: readonly unknown[]): void =>
      ifTooDeep(
        () => toServer(Buffer.from(JSON.stringify(admitted))),
        () => {
          if (admitted.length === 1) refuseDeep(admitted, toClient)
          else for (const element of admitted) passOn([element])
        },
      )

    return {
      toServer(line) {
        const value = parsed(line)
        if (!Array.isArray(value)) return admit(value) ? toServer(line) : undefined
        const admitted = value.filter(admit)
        if (admitted.length === value.length) toServer(line)
        else if (admitted.length > 0) passOn(admitted)
      },
      toClient(json) {
        if (lists.size === 0) return toClient(json)
        const value = parsed(json)
        const answers = [value].flat().filter((answer) => takeId(lists, answer))
        for (const { result } of answers as { result?: { tools?: unknown } }[])
          if (Array.isArray(result?.tools))
            result.tools = result.tools.filter(({ name }) => isShown(String(name)))
        toClient(answers.length === 0 ? json : Buffer.from(JSON.stringify(value)))
      },
    }
  }
}

/** True for the answer to one of these requests, which is then no longer waited for. */
function takeId(waiting: Set<string>, value: unknown): boolean {
  if (kindOf(value) !== 'response') return false
  const { id } = value as { id: unknown }
  return isId(id) && waiting.delete(JSON.stringify(id))
}
