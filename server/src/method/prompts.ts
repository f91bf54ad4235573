/** prompts/list and prompts/get. */
import { type AppPrompt, isAsk } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import type { Hosted } from '../host.ts'
import { methodTask } from '../limit/task.ts'
import { listedPrompt } from '../mount.ts'
import { pageOf } from '../page.ts'
import { cacheHints, type MountLists } from '../registry.ts'
import type { Method } from './method.ts'
import { text } from './params.ts'

/** The prompts of a mount, a page at a time. */
export const listPrompts: Method = async ({ params, caller, lists }, { ttlMs, pageSize }) => {
  const { items, ...rest } = pageOf(lists.prompts, {
    cursor: params.cursor,
    hash: lists.promptsHash,
    size: pageSize,
  })
  return { prompts: items, ...rest, ...(caller.era === 'modern' ? cacheHints(ttlMs) : {}) }
}

/** The messages of one prompt, or the questions that it puts first. */
export const getPrompt: Method = async ({ params, caller, lists }, { scope }) => {
  const { hosted, prompt } = findPrompt(lists, text(params, 'name'))
  const messages = await scope.run(hosted, caller, methodTask('prompts/get'), (ctx) =>
    prompt.messages(params.arguments, ctx),
  )
  return isAsk(messages) ? messages : { description: prompt.about, messages }
}

/** A prompt by its listed name; throws `UNKNOWN_PROMPT`. */
export function findPrompt(lists: MountLists, name: string): { hosted: Hosted; prompt: AppPrompt } {
  for (const hosted of lists.hosted) {
    const prompt = hosted.app.prompts.find((one) => listedPrompt(lists.mount, hosted.app, one).name === name)
    if (prompt !== undefined) return { hosted, prompt }
  }
  throw new CausewayError('UNKNOWN_PROMPT', `no such prompt: ${name}`, { data: { name } })
}
