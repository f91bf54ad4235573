import { type AppPrompt, isAsk } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import type { AppInstance } from '../host/app-host.ts'
import { toListedPrompt } from '../registry/mount.ts'
import { createCacheHints, type MountLists } from '../registry/mount-lists.ts'
import { paginate } from '../registry/page.ts'
import { type Method, requireString } from './method.ts'
import { createMethodOperation } from './operation.ts'

export const listPrompts: Method = async ({ params, caller, lists }, { registry }) => {
  const page = paginate('prompts', lists.prompts, {
    cursor: params.cursor,
    hash: lists.promptsHash,
    size: registry.pageSize,
  })
  return { ...page, ...(caller.era === 'modern' ? createCacheHints(registry.ttlMs) : {}) }
}

export const getPrompt: Method = async ({ params, caller, lists }, { runner }) => {
  const { instance, prompt } = findPrompt(lists, requireString(params, 'name'))
  const operation = createMethodOperation('prompts/get')
  return runner.run({ instance, caller, operation }, async (ctx) => {
    if (prompt.get !== undefined) return prompt.get(params.arguments, ctx)
    const messages = await prompt.messages(params.arguments, ctx)
    return isAsk(messages) ? messages : { description: prompt.about, messages }
  })
}

export function findPrompt(lists: MountLists, name: string): { instance: AppInstance; prompt: AppPrompt } {
  for (const instance of lists.instances) {
    const { app } = instance
    const prompt = app.prompts.find((candidate) => toListedPrompt(lists.mount, app, candidate).name === name)
    if (prompt !== undefined) return { instance, prompt }
  }
  throw new CausewayError('UNKNOWN_PROMPT', `no such prompt: ${name}`, { data: { name } })
}
