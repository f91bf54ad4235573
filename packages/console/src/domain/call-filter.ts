import type { CallRecord } from '../data/types.ts'
import { formatClient } from './clients.ts'

/** A condition that a call meets. */
type Test = (call: CallRecord) => boolean

/**
 * Parses a filter such as `app:Replay tool:get_frame code:* ms:>50`. `code:*` is any error; a word without a name is searched in all
 * of them; a leading `-` negates.
 */
export function parseCallFilter(text: string): Test {
  const tests = text
    .split(/\s+/)
    .filter((word) => word !== '' && word !== '-')
    .map(parseWord)
  return (call) => tests.every((test) => test(call))
}

function parseWord(word: string): Test {
  if (word.startsWith('-')) {
    const test = parseWord(word.slice(1))
    return (call) => !test(call)
  }
  const [, name = '', value = word] = /^(app|tool|code|client|session|subject|ms):(.+)$/.exec(word) ?? []
  const wanted = value.toLowerCase()
  if (name === 'code' && value === '*') return ({ success }) => !success
  if (name === 'ms') {
    const [, sign = '', limit = ''] = /^([<>]?)=?(\d+(?:\.\d+)?)$/.exec(value) ?? []
    return ({ duration }) => (sign === '<' ? duration < Number(limit) : duration > Number(limit))
  }
  if (name === '') return (call) => Object.values(toTexts(call)).some((one) => one.includes(wanted))
  return (call) => toTexts(call)[name as keyof Texts].includes(wanted)
}

interface Texts {
  readonly app: string
  readonly tool: string
  readonly code: string
  readonly client: string
  readonly session: string
  readonly subject: string
}

const toTexts = ({ toolName, error, metadata }: CallRecord): Texts => ({
  app: metadata.app.toLowerCase(),
  tool: toolName.toLowerCase(),
  code: (error?.code ?? 'ok').toLowerCase(),
  client: `${formatClient(metadata.client)} ${metadata.client_version}`.toLowerCase(),
  session: metadata.session,
  subject: (metadata.subject ?? '').toLowerCase(),
})
